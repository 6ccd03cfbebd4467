import type { ComponentChildren } from "preact";
import type { App } from "../core/context.ts";
import { Button } from "./button.tsx";
import { CopyField } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";

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
