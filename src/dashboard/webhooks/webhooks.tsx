import { Play, Plus, Send, Webhook as WebhookIcon } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { formatNumber, formatTime, plural } from "../core/format.ts";
import { useAnswer } from "../core/resource.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page, Section } from "../ui/page.tsx";
import { RemoveButton } from "../ui/remove_button.tsx";
import { showSecret } from "../ui/secret_dialog.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { NewWebhook } from "./new_webhook.tsx";

type Webhook = Schemas["Webhook"];
type Delivery = Webhook["deliveries"][number] & { webhook: string };

/** The last deliveries that are shown, of all webhooks together. */
const SHOWN_DELIVERIES = 20;

/** The webhooks of a project, and what can be done with them. */
function useWebhooks(project: string) {
  const app = useApp();
  const { api, overlays, toasts } = app;
  const path = { project_id: project };
  const list = useAnswer(
    (api, signal) =>
      api.GET("/admin/v1/projects/{project_id}/webhooks", { params: { path }, signal }),
    [project],
  );
  const create = async () => {
    const made = await overlays.show<Schemas["NewWebhook"]>((close) => (
      <NewWebhook project={project} onClose={close} />
    ));
    if (made === undefined) return;
    list.reload();
    const title = `Created the webhook “${made.name}”`;
    await showSecret(app, {
      title,
      label: "Secret that signs its deliveries",
      secret: made.secret,
    });
  };
  const test = async ({ id }: Webhook) => {
    const { status, error } = await dataOf(
      api.POST("/admin/v1/projects/{project_id}/webhooks/{id}/test", {
        params: { path: { ...path, id } },
      }),
    );
    if (status !== null && status < 300) toasts.success(`The receiver answered ${status}`);
    else toasts.info(status === null ? `The receiver ${error}` : `The receiver answered ${status}`);
  };
  const enable = async ({ id }: Webhook) => {
    await api.PATCH("/admin/v1/projects/{project_id}/webhooks/{id}", {
      params: { path: { ...path, id } },
      body: { enabled: true },
    });
    list.reload();
  };
  const remove = async ({ id }: Webhook) => {
    await api.DELETE("/admin/v1/projects/{project_id}/webhooks/{id}", {
      params: { path: { ...path, id } },
    });
    list.reload();
  };
  return { list, create, test, enable, remove };
}

/** The webhooks of a project, and their last deliveries. */
export function Webhooks({ project }: { project: string }) {
  const { list, create, test, enable, remove } = useWebhooks(project);
  return (
    <Page
      title="Webhooks"
      lead="Addresses to which the server sends what changes. The project has to keep changes: see its settings."
      actions={<Button kind="primary" icon={Plus} onClick={create}>New webhook</Button>}
    >
      <Loaded from={list}>
        {({ webhooks }) => (
          <>
            <Table
              caption="Webhooks of the project"
              columns={COLUMNS}
              rows={webhooks}
              keyOf={({ id }) => id}
              empty={
                <Empty
                  icon={WebhookIcon}
                  title="No webhooks"
                  text="No program is told of changes by itself."
                />
              }
              actions={(one) => (
                <>
                  <IconButton
                    icon={Send}
                    label={`Send a test to ${one.name}`}
                    onClick={() => test(one)}
                  />
                  {!one.enabled && (
                    <IconButton
                      icon={Play}
                      label={`Enable ${one.name}`}
                      onClick={() => enable(one)}
                    />
                  )}
                  <RemoveButton
                    label={`Delete ${one.name}`}
                    title={`Delete “${one.name}”?`}
                    text="Nothing more is delivered to it."
                    action="Delete webhook"
                    done="Webhook deleted"
                    run={() => remove(one)}
                  />
                </>
              )}
            />
            {webhooks.length > 0 && <Deliveries webhooks={webhooks} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Deliveries({ webhooks }: { webhooks: readonly Webhook[] }) {
  const all = webhooks.flatMap(({ name, deliveries }): Delivery[] =>
    deliveries.map((one) => ({ ...one, webhook: name }))
  );
  const newest = all.sort((a, b) => a.at < b.at ? 1 : -1).slice(0, SHOWN_DELIVERIES);
  return (
    <Section title="Last deliveries">
      <Table
        caption="Last deliveries"
        columns={DELIVERY_COLUMNS}
        rows={newest}
        keyOf={({ at, webhook }) => `${at} ${webhook}`}
        empty={<p class="soft">Nothing was delivered yet.</p>}
      />
    </Section>
  );
}

const COLUMNS: Column<Webhook>[] = [
  {
    title: "Name",
    isMain: true,
    cell: ({ name, url }) => (
      <span class="title-link">
        {name}
        <small>{url}</small>
      </span>
    ),
  },
  { title: "State", cell: (one) => <State of={one} /> },
  { title: "Changes of", isMinor: true, cell: ({ drives }) => drives?.join(", ") ?? "All drives" },
  { title: "Waiting", isNumber: true, cell: ({ pending }) => formatNumber(pending) },
  { title: "Last delivery", cell: ({ last_delivery }) => formatTime(last_delivery) },
];

const DELIVERY_COLUMNS: Column<Delivery>[] = [
  { title: "Time", isMain: true, cell: ({ at }) => formatTime(at) },
  { title: "Webhook", cell: ({ webhook }) => webhook },
  { title: "Answer", cell: ({ status, error }) => <Answer status={status} error={error} /> },
  {
    title: "Sent",
    isMinor: true,
    cell: ({ drive_name, changes }) => `${plural(changes, "change")} of ${drive_name}`,
  },
];

function State({ of: { enabled, disabled_reason, failing_since } }: { of: Webhook }) {
  if (!enabled) {
    return (
      <span class="badge bad">{disabled_reason === null ? "Off" : "Disabled: it failed"}</span>
    );
  }
  return failing_since === null
    ? <span class="badge good">Working</span>
    : <span class="badge warn">Failing since {formatTime(failing_since)}</span>;
}

function Answer({ status, error }: Pick<Delivery, "status" | "error">) {
  if (status === null) return <span class="badge bad">It {error}</span>;
  return <span class={`badge ${status < 300 ? "good" : "bad"}`}>{status}</span>;
}
