import { KeyRound, Plus, Trash2 } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { useResource } from "../core/resource.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { confirm } from "../ui/dialog.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { showSecret } from "../ui/secret_dialog.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { NewKey } from "./new_key.tsx";
import { RIGHTS_COLUMNS } from "./rights_columns.tsx";
import { S3Keys } from "./s3_keys.tsx";

type ProjectKey = Schemas["ProjectKeyList"]["keys"][number];

/** The keys of a project. */
export function Keys({ project }: { project: string }) {
  const app = useApp();
  const path = { project_id: project };
  const list = useResource(
    (signal) =>
      dataOf(
        app.api.GET("/admin/v1/projects/{project_id}/keys", { params: { path }, signal }),
      ),
    [project],
  );
  const create = async () => {
    const made = await app.overlays.show<Schemas["NewProjectKey"]>((close) => (
      <NewKey
        title="New key"
        create={(body) =>
          dataOf(app.api.POST("/admin/v1/projects/{project_id}/keys", { params: { path }, body }))}
        onClose={close}
      />
    ));
    if (made === undefined) return;
    list.reload();
    await showSecret(app, {
      title: `Created the key “${titleOf(made)}”`,
      label: "Project key",
      secret: made.project_key,
    });
  };
  const revoke = async (key: ProjectKey) => {
    const isOwn = key.prefix === app.session.current.value?.key;
    const isAgreed = await confirm(app, {
      title: `Revoke “${titleOf(key)}”?`,
      text: isOwn
        ? "You are signed in with this key: you will be signed out, as will every program that uses it."
        : "Programs that use it are refused from now on.",
      action: "Revoke key",
    });
    if (!isAgreed) return;
    await app.api.DELETE("/admin/v1/projects/{project_id}/keys/{prefix}", {
      params: { path: { ...path, prefix: key.prefix } },
    });
    app.toasts.success("Key revoked");
    list.reload();
  };
  return (
    <Page
      title="Keys"
      lead="Programs send a key with every request; people sign in with one."
      actions={<Button kind="primary" icon={Plus} onClick={create}>New key</Button>}
    >
      <Loaded from={list}>
        {({ keys }) => (
          <>
            {keys.length === 0
              ? <Empty icon={KeyRound} title="No keys" text="No program can use this project." />
              : (
                <Table
                  caption="Keys of the project"
                  columns={COLUMNS}
                  rows={keys}
                  keyOf={({ prefix }) => prefix}
                  actions={(key) => (
                    <IconButton
                      icon={Trash2}
                      label={`Revoke ${titleOf(key)}`}
                      onClick={() => revoke(key)}
                    />
                  )}
                />
              )}
            <S3Keys project={project} />
          </>
        )}
      </Loaded>
    </Page>
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
