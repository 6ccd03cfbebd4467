import { KeyRound } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { useAnswer } from "../core/resource.ts";
import { Collection } from "../ui/collection.tsx";
import { showSecret } from "../ui/dialog.tsx";
import type { Column } from "../ui/table.tsx";
import { askForKey } from "./new_key.tsx";
import { RIGHTS_COLUMNS } from "./rights.tsx";
import { S3Keys } from "./s3_keys.tsx";

type ProjectKey = Schemas["ProjectKeyList"]["keys"][number];

export function Keys({ project }: { project: string }) {
  const app = useApp();
  const path = { project_id: project };
  const list = useAnswer(
    (api, signal) => api.GET("/admin/v1/projects/{project_id}/keys", { params: { path }, signal }),
    [project],
  );
  const create = (body: Schemas["CreateProjectKeyRequest"]) =>
    dataOf(app.api.POST("/admin/v1/projects/{project_id}/keys", { params: { path }, body }));
  return (
    <Collection
      title="Keys"
      lead="Programs send a key with every request; people sign in with one."
      from={list}
      rows={({ keys }) => keys}
      keyOf={({ prefix }) => prefix}
      columns={COLUMNS}
      empty={{ icon: KeyRound, title: "No keys", text: "No program can use this project." }}
      create={{
        label: "New key",
        ask: () => askForKey(app, project, { title: "New key", create }),
        then: (made) =>
          showSecret(app, {
            title: `Created the key “${titleOf(made)}”`,
            label: "Project key",
            secret: made.project_key,
          }),
      }}
      remove={(key) => ({
        label: `Revoke ${titleOf(key)}`,
        title: `Revoke “${titleOf(key)}”?`,
        text: key.prefix === app.session.current.value?.key
          ? "You are signed in with this key: you will be signed out, as will every program that uses it."
          : "Programs that use it are refused from now on.",
        action: "Revoke key",
        done: "Key revoked",
        run: () =>
          app.api.DELETE("/admin/v1/projects/{project_id}/keys/{prefix}", {
            params: { path: { ...path, prefix: key.prefix } },
          }),
      })}
    >
      <S3Keys project={project} />
    </Collection>
  );
}

function titleOf({ name, prefix }: Pick<ProjectKey, "name" | "prefix">): string {
  return name ?? prefix;
}

const COLUMNS: Column<ProjectKey>[] = [
  {
    title: "Name",
    isMain: true,
    cell: ({ name, prefix }) => (
      <span class="title-link">
        {name ?? "Unnamed"}
        <small>{prefix}…</small>
      </span>
    ),
  },
  ...RIGHTS_COLUMNS,
];
