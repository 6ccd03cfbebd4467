import { KeyRound, Plus } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { useAnswer } from "../core/resource.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { RemoveButton } from "../ui/remove_button.tsx";
import { showSecret } from "../ui/secret_dialog.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { NewKey } from "./new_key.tsx";
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
  const create = async () => {
    const made = await app.overlays.show<Schemas["NewProjectKey"]>((close) => (
      <NewKey
        project={project}
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
  const revoke = async ({ prefix }: ProjectKey) => {
    await app.api.DELETE("/admin/v1/projects/{project_id}/keys/{prefix}", {
      params: { path: { ...path, prefix } },
    });
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
            <Table
              caption="Keys of the project"
              columns={COLUMNS}
              rows={keys}
              keyOf={({ prefix }) => prefix}
              empty={
                <Empty icon={KeyRound} title="No keys" text="No program can use this project." />
              }
              actions={(key) => (
                <RemoveButton
                  label={`Revoke ${titleOf(key)}`}
                  title={`Revoke “${titleOf(key)}”?`}
                  text={key.prefix === app.session.current.value?.key
                    ? "You are signed in with this key: you will be signed out, as will every program that uses it."
                    : "Programs that use it are refused from now on."}
                  action="Revoke key"
                  done="Key revoked"
                  run={() => revoke(key)}
                />
              )}
            />
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
