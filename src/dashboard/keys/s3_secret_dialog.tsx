import type { Schemas } from "../core/api.ts";
import type { App } from "../core/context.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton, CopyField } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { s3Settings } from "./s3_settings.ts";

/** Shows a new S3 key with its secret, which the server never shows again. */
export async function showS3Secret(
  { overlays, session }: Pick<App, "overlays" | "session">,
  key: Schemas["NewS3Key"],
): Promise<void> {
  const address = session.current.value?.s3 ?? null;
  const settings = s3Settings(key, address);
  await overlays.show((close) => (
    <Dialog
      title={`Created the S3 key “${key.name ?? key.access_key_id}”`}
      onClose={() => close()}
      isForm
      footer={<Button kind="primary" onClick={() => close()}>Done</Button>}
    >
      <div class="stack">
        {address === null ? null : <Labelled label="Address of S3" text={address} />}
        <Labelled label="Access key id" text={key.access_key_id} />
        <Labelled label="Secret access key" text={key.secret_access_key} isSecret />
        <div class="snippet">
          <div class="snippet-head">
            <span>Environment of S3 clients</span>
            <CopyButton text={settings} label="Copy the environment of S3 clients" />
          </div>
          {/* It scrolls sideways, so it must be focusable. */}
          <pre
            tabIndex={0}
            role="region"
            aria-label="Environment of S3 clients"
          ><code>{settings}</code></pre>
        </div>
        <p class="notice">Copy the secret now: it is not shown again.</p>
      </div>
    </Dialog>
  ));
}

function Labelled({ label, text, isSecret = false }: {
  label: string;
  text: string;
  isSecret?: boolean;
}) {
  return (
    <div class="field">
      <span class="field-label">{label}</span>
      <CopyField text={text} label={label} isSecret={isSecret} />
    </div>
  );
}
