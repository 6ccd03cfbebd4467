import { CircleAlert, CircleCheck, Info, X } from "lucide";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useApp } from "../core/context.ts";
import type { Toast } from "../core/toasts.ts";
import { Button, IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

const ICONS = { success: CircleCheck, error: CircleAlert, info: Info };

/**
 * The messages in the corner. Screen readers announce them. A modal view has a list of its own, in place of that of the
 * page, which cannot be used below it.
 */
export function ToastList() {
  const { toasts } = useApp();
  const list = useMemo(() => ({}), []);
  useEffect(() => toasts.attach(list), []);
  const shown = toasts.list === list ? toasts.shown.value : [];
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map((toast) => <ToastCard key={toast.id} toast={toast} />)}
    </div>
  );
}

function ToastCard({ toast: { id, kind, text, action } }: { toast: Toast }) {
  const { toasts } = useApp();
  const card = useRef<HTMLDivElement>(null);
  const before = useRef<EventTarget | null>(null);
  useLayoutEffect(() => () => {
    const { current } = before;
    const hasFocus = card.current?.contains(document.activeElement) === true;
    if (hasFocus && current instanceof HTMLElement) current.focus({ preventScroll: true });
  }, []);
  const act = () => {
    toasts.dismiss(id);
    action?.run();
  };
  return (
    <div
      ref={card}
      class={`toast line raised ${kind}`}
      onFocusIn={({ relatedTarget }) => {
        if (!card.current?.contains(relatedTarget as Node | null)) before.current = relatedTarget;
      }}
    >
      <Icon of={ICONS[kind]} />
      <p>{text}</p>
      {action === undefined ? null : <Button kind="quiet" onClick={act}>{action.label}</Button>}
      <IconButton icon={X} label="Dismiss" size={16} onClick={() => toasts.dismiss(id)} />
    </div>
  );
}
