import type { Schemas } from "../core/api.ts";
import type { App } from "../core/context.ts";
import { LabelledCopy, Snippet } from "../ui/copy.tsx";
import { showOnce } from "../ui/secret_dialog.tsx";
import { s3Settings } from "./s3_settings.ts";

/** Shows a new S3 key with its secret, which the server never shows again. */
export async function showS3Secret(
  { overlays, session }: Pick<App, "overlays" | "session">,
  key: Schemas["NewS3Key"],
): Promise<void> {
  const address = session.current.value?.s3 ?? null;
  const content = (
    <>
      {address !== null && <LabelledCopy label="Address of S3" text={address} />}
      <LabelledCopy label="Access key id" text={key.access_key_id} />
      <LabelledCopy label="Secret access key" text={key.secret_access_key} isSecret />
      <Snippet
        title="Environment of S3 clients"
        copy="Copy the environment of S3 clients"
        text={s3Settings(key, address)}
      />
    </>
  );
  const title = `Created the S3 key “${key.name ?? key.access_key_id}”`;
  await showOnce({ overlays }, title, content, "Copy the secret now: it is not shown again.");
}
