import type { App } from "../core/context.ts";
import { Button } from "./button.tsx";
import { CopyField } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";

/** Shows a new secret, which the server never shows again. */
export async function showSecret(
  { overlays }: Pick<App, "overlays">,
  { title, label, secret, text }: { title: string; label: string; secret: string; text?: string },
): Promise<void> {
  await overlays.show((close) => (
    <Dialog
      title={title}
      onClose={() => close()}
      isForm
      footer={<Button kind="primary" onClick={() => close()}>Done</Button>}
    >
      <div class="stack">
        <CopyField text={secret} label={label} isSecret />
        <p class="notice">{text ?? "Copy it now: it is not shown again."}</p>
      </div>
    </Dialog>
  ));
}
