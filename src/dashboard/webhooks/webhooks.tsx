import { Play, Send, Webhook as WebhookIcon } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { formatNumber, formatTime, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useAnswer } from "../core/resource.ts";
import { IconButton } from "../ui/button.tsx";
import { Collection } from "../ui/collection.tsx";
import { askForm } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { showSecret } from "../ui/dialog.tsx";
import { type Column, Table } from "../ui/table.tsx";

type Webhook = Schemas["Webhook"];
type Delivery = Webhook["deliveries"][number] & { webhook: string };

/** The last deliveries that are shown, of all webhooks together. */
const SHOWN_DELIVERIES = 20;

/** The webhooks of a project, and their last deliveries. */
export function Webhooks({ project }: { project: string }) {
  const app = useApp();
  const list = useAnswer(
    (api, signal) =>
      api.GET("/admin/v1/projects/{project_id}/webhooks", {
        params: { path: { project_id: project } },
        signal,
      }),
    [project],
  );
  const { webhooks = [] } = list.data ?? {};
  return (
    <Collection
      title="Webhooks"
      lead={
        <>
          Addresses to which the server sends what changes. The project has to{" "}
          <a href={links.section(project, "events", ["files"])}>keep changes</a>.
        </>
      }
      from={list}
      rows={({ webhooks }) => webhooks}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      empty={{
        icon: WebhookIcon,
        title: "No webhooks",
        text: "No program is told of changes by itself.",
      }}
      create={{
        label: "New webhook",
        ask: () => askForWebhook(app, project),
        then: ({ name, secret }) =>
          showSecret(app, {
            title: `Created the webhook “${name}”`,
            label: "Secret that signs its deliveries",
            secret,
          }),
      }}
      actions={(one) => <Actions of={one} project={project} onEnable={list.reload} />}
      remove={(one) => ({
        label: `Delete ${one.name}`,
        title: `Delete “${one.name}”?`,
        text: "Nothing more is delivered to it.",
        action: "Delete webhook",
        done: "Webhook deleted",
        run: () =>
          app.api.DELETE("/admin/v1/projects/{project_id}/webhooks/{id}", {
            params: { path: { project_id: project, id: one.id } },
          }),
      })}
    >
      {webhooks.length > 0 && <Deliveries webhooks={webhooks} />}
    </Collection>
  );
}

/** Sends a test to a webhook, and enables one that failed. */
function Actions({ of: { id, name, enabled }, project, onEnable }: {
  of: Webhook;
  project: string;
  onEnable: () => void;
}) {
  const { api, toasts } = useApp();
  const params = { path: { project_id: project, id } };
  const test = async () => {
    const { status, error } = await dataOf(
      api.POST("/admin/v1/projects/{project_id}/webhooks/{id}/test", { params }),
    );
    const text = status === null ? `The receiver ${error}` : `The receiver answered ${status}`;
    if (status !== null && status < 300) toasts.success(text);
    else toasts.info(text);
  };
  const enable = async () => {
    const body = { enabled: true };
    await api.PATCH("/admin/v1/projects/{project_id}/webhooks/{id}", { params, body });
    onEnable();
  };
  return (
    <>
      <IconButton icon={Send} label={`Send a test to ${name}`} onClick={test} />
      {!enabled && <IconButton icon={Play} label={`Enable ${name}`} onClick={enable} />}
    </>
  );
}

async function askForWebhook(
  app: App,
  project: string,
): Promise<Schemas["CreatedWebhook"] | undefined> {
  return await askForm(app, {
    title: "New webhook",
    submit: "Create webhook",
    initial: { name: "", url: "", drives: "", prefix: "" },
    fields: {
      name: { label: "Name", hint: "For the list." },
      url: {
        label: "Address",
        hint: "Of the receiver, such as https://example.com/hook.",
        spellcheck: false,
      },
      drives: {
        label: "Drives",
        hint: "With commas between them. Without any, changes of all drives are sent.",
        spellcheck: false,
      },
      prefix: {
        label: "Names begin with",
        hint: "Such as inbox/. Empty for all names.",
        spellcheck: false,
      },
    },
    send: ({ name, url, drives, prefix }) => {
      const chosen = drives.split(",").map((one) => one.trim()).filter((one) => one !== "");
      return dataOf(app.api.POST("/admin/v1/projects/{project_id}/webhooks", {
        params: { path: { project_id: project } },
        body: {
          name: name.trim(),
          url: url.trim(),
          drives: chosen.length === 0 ? null : chosen,
          name_prefix: prefix || null,
        },
      }));
    },
  });
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
