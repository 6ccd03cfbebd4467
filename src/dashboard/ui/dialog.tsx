import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { App } from "../core/context.ts";
import { Button, IconButton } from "./button.tsx";
import { CopyField } from "./copy.tsx";

type Size = "small" | "medium";

/** Where a dialog begins: at its first field, at what is marked, or at its last button, which is its main one. */
const BEGINNINGS = [
  ".dialog-body :is(input, select, textarea):enabled",
  "[data-begin]",
  ".dialog-foot .button:last-child:enabled",
];

/**
 * A modal dialog: the browser's own, which keeps the focus inside, closes with Escape and returns the focus.
 * A click beside it closes it unless it has a form.
 */
export function Dialog({ title, onClose, children, footer, size = "medium", isForm = false }: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
  size?: Size | undefined;
  isForm?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // It has to be closed while it is in the document: only then the focus returns.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    const first = BEGINNINGS.map((one) => dialog?.querySelector<HTMLElement>(one)).find(Boolean);
    first?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog raised ${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (!isForm && event.target === ref.current) onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="dialog-frame">
        <div class="dialog-head line between">
          <h2 id={id}>{title}</h2>
          <IconButton icon={X} label="Close" onClick={() => onClose()} />
        </div>
        <div class="dialog-body">{children}</div>
        {footer === undefined ? null : <div class="dialog-foot row">{footer}</div>}
      </div>
    </dialog>
  );
}

/** Shows a new secret, which the server never shows again. */
export async function showSecret(
  { overlays }: Pick<App, "overlays">,
  { title, label, secret }: { title: string; label: string; secret: string },
): Promise<void> {
  const field = <CopyField text={secret} label={label} isSecret />;
  await showOnce({ overlays }, title, field, "Copy it now: it is not shown again.");
}

/** Shows what is not shown again, with a text that says so. */
export async function showOnce(
  { overlays }: Pick<App, "overlays">,
  title: string,
  content: ComponentChildren,
  notice: string,
): Promise<void> {
  await overlays.show((close) => (
    <Dialog
      title={title}
      onClose={close}
      isForm
      footer={<Button kind="primary" onClick={() => close()}>Done</Button>}
    >
      <div class="stack">
        {content}
        <p class="notice warn">{notice}</p>
      </div>
    </Dialog>
  ));
}
