import { HardDrive } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { useAnswer } from "../core/resource.ts";
import { Collection } from "../ui/collection.tsx";
import { LabelledCopy, Snippet } from "../ui/copy.tsx";
import { showOnce } from "../ui/dialog.tsx";
import type { Column } from "../ui/table.tsx";
import { askForKey } from "./new_key.tsx";
import { type ListedKey, RIGHTS_COLUMNS } from "./rights.tsx";

type S3Key = Schemas["S3KeyList"]["s3_keys"][number];

export function S3Keys({ project }: { project: string }) {
  const app = useApp();
  const path = { project_id: project };
  const list = useAnswer(
    (api, signal) =>
      api.GET("/admin/v1/projects/{project_id}/s3-keys", { params: { path }, signal }),
    [project],
  );
  const create = ({ name_prefix, ...wanted }: Schemas["CreateProjectKeyRequest"]) =>
    dataOf(
      app.api.POST("/admin/v1/projects/{project_id}/s3-keys", {
        params: { path },
        body: { ...wanted, prefix: name_prefix ?? null },
      }),
    );
  return (
    <Collection
      title="S3 keys"
      lead={leadOf(app.session.current.value?.s3 ?? null)}
      isSection
      from={list}
      rows={({ s3_keys }) => s3_keys.map((key) => ({ ...key, name_prefix: key.prefix }))}
      keyOf={({ access_key_id }) => access_key_id}
      columns={COLUMNS}
      empty={{ icon: HardDrive, title: "No S3 keys", text: "No S3 client can use this project." }}
      create={{
        label: "New S3 key",
        ask: () => askForKey(app, project, { title: "New S3 key", create }),
        then: (made) => showS3Secret(app, made),
      }}
      remove={(key) => ({
        label: `Revoke ${titleOf(key)}`,
        title: `Revoke “${titleOf(key)}”?`,
        text: "S3 clients that use it are refused from now on.",
        action: "Revoke S3 key",
        done: "S3 key revoked",
        run: () =>
          app.api.DELETE("/admin/v1/projects/{project_id}/s3-keys/{access_key_id}", {
            params: { path: { ...path, access_key_id: key.access_key_id } },
          }),
      })}
    />
  );
}

function leadOf(address: string | null): string {
  return address === null
    ? "S3 is off on this server: --s3-port or --s3-domain turns it on. Keys can be created before."
    : `Backup programs and other S3 clients sign their requests with one. S3 is at ${address}`;
}

function titleOf({ name, access_key_id }: Pick<S3Key, "name" | "access_key_id">): string {
  return name ?? access_key_id;
}

/** Shows a new S3 key with its secret, which the server never shows again. */
async function showS3Secret(
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

/**
 * Returns the variables that S3 clients read a key from, one a line.
 *
 * @param endpoint The address of S3; `null` if the server has it turned off.
 */
export function s3Settings(
  { access_key_id, secret_access_key }: Pick<
    Schemas["NewS3Key"],
    "access_key_id" | "secret_access_key"
  >,
  endpoint: string | null,
): string {
  return [
    ...(endpoint === null ? [] : [`AWS_ENDPOINT_URL_S3=${endpoint}`]),
    `AWS_ACCESS_KEY_ID=${access_key_id}`,
    `AWS_SECRET_ACCESS_KEY=${secret_access_key}`,
  ].join("\n");
}

const COLUMNS: Column<S3Key & ListedKey>[] = [
  {
    title: "Name",
    isMain: true,
    cell: ({ name, access_key_id, usable }) => (
      <span class="title-link">
        {name ?? "Unnamed"}
        <small>{access_key_id}</small>
        {usable ? null : <span class="badge bad">The server has lost its secret</span>}
      </span>
    ),
  },
  ...RIGHTS_COLUMNS,
];
