import { dataOf, type Schemas } from "../core/api.ts";
import { type App as Context, useApp } from "../core/context.ts";
import { formatDate } from "../core/format.ts";
import { links } from "../core/links.ts";
import { type Resource, useResource } from "../core/resource.ts";
import { Button } from "../ui/button.tsx";
import { Collection } from "../ui/collection.tsx";
import { Facts } from "../ui/facts.tsx";
import { askForm, confirm } from "../ui/form.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page, Section } from "../ui/page.tsx";
import { RemoveSection } from "../ui/remove_button.tsx";
import { showSecret } from "../ui/dialog.tsx";
import type { Column } from "../ui/table.tsx";
import { askForApp } from "./app_form.tsx";
import { AccessBadge, addressOfApp } from "./applications.tsx";

interface Loading {
  app: Schemas["App"];
  gate: Schemas["AppList"]["gate"];
  keys: Schemas["AppKeyList"]["keys"];
}

interface AppProps {
  project: string;
  resource: Resource<Loading>;
  data: Loading;
}

/** An application: its addresses, access and keys. */
export function ApplicationView({ project, app }: { project: string; app: string }) {
  const { api } = useApp();
  const resource = useResource(async (signal): Promise<Loading> => {
    const params = { path: { project_id: project, app } };
    const [{ apps, gate }, { keys }] = await Promise.all([
      dataOf(api.GET("/admin/v1/projects/{project_id}/apps", { params, signal })),
      dataOf(api.GET("/admin/v1/projects/{project_id}/apps/{app}/keys", { params, signal })),
    ]);
    const found = apps.find(({ name }) => name === app);
    if (found === undefined) throw new Error(`There is no application “${app}”`);
    return { app: found, gate, keys };
  }, [project, app]);
  return (
    <Page
      title={app}
      lead={<a href={links.section(project, "apps")}>All applications</a>}
    >
      <Loaded from={resource}>
        {(data) => (
          <div class="sections stack">
            <Addresses {...{ project, resource, data }} />
            <AccessSection {...{ project, resource, data }} />
            <AppKeys {...{ project, resource, data }} />
            <Removal {...{ project, resource, data }} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Addresses({ project, resource, data: { app, gate } }: AppProps) {
  const context = useApp();
  const address = addressOfApp(app, gate, location.hostname);
  const link = address === undefined
    ? "The gate of this server is off"
    : <a key="link" href={address} target="_blank" rel="noreferrer">{address}</a>;
  const change = async () => {
    if (await askForApp(context, project, app) === undefined) return;
    context.toasts.success("Saved");
    resource.reload();
  };
  return (
    <Section title="Addresses" actions={<Button onClick={change}>Change</Button>}>
      <Facts
        facts={[
          ["Callers open it at", link],
          ["Host name", app.host ?? "None: callers use its path"],
          ["Upstream", app.upstream ?? "None yet: there is nothing to forward to"],
        ]}
      />
    </Section>
  );
}

function AccessSection({ project, resource, data: { app } }: AppProps) {
  const context = useApp();
  const isOn = app.access.enabled;
  const change = async () => {
    const isAgreed = !isOn || await confirm(context, {
      title: "Open it to everyone?",
      text: "Everyone who knows the address can use the application, without a key.",
      action: "Turn access control off",
    });
    if (!isAgreed) return;
    await context.api.PUT("/admin/v1/projects/{project_id}/apps/{app}/access", {
      params: { path: { project_id: project, app: app.name } },
      body: { enabled: !isOn },
    });
    context.toasts.success(isOn ? "Access control is off" : "Access control is on");
    resource.reload();
  };
  return (
    <Section
      title="Access control"
      actions={<Button onClick={change}>{isOn ? "Turn off" : "Turn on"}</Button>}
    >
      <p>
        <AccessBadge isOn={isOn} /> {isOn
          ? "Callers need a key of the application, or a key of the project."
          : "The gate forwards every request."}
      </p>
    </Section>
  );
}

function AppKeys({ project, resource, data: { app } }: AppProps) {
  const context = useApp();
  const path = { project_id: project, app: app.name };
  const isOn = app.access.enabled;
  return (
    <Collection
      title="Keys"
      lead={isOn ? undefined : "Turn access control on to use keys."}
      isSection
      from={resource}
      rows={({ keys }) => keys}
      keyOf={({ name }) => name}
      columns={KEY_COLUMNS}
      empty="None"
      create={{
        label: "New key",
        disabled: !isOn,
        ask: () => askForAppKey(context, path),
        then: ({ name, api_key }) =>
          showSecret(context, {
            title: `Created the key “${name}”`,
            label: "Application key",
            secret: api_key,
          }),
      }}
      remove={({ name }) => ({
        label: `Revoke ${name}`,
        title: `Revoke “${name}”?`,
        text: "Programs and browsers that use it are refused from now on.",
        action: "Revoke key",
        done: "Key revoked",
        run: () =>
          context.api.DELETE("/admin/v1/projects/{project_id}/apps/{app}/keys/{name}", {
            params: { path: { ...path, name } },
          }),
      })}
    />
  );
}

const KEY_COLUMNS: Column<Loading["keys"][number]>[] = [
  { title: "Name", isMain: true, cell: ({ name }) => name },
  { title: "Description", isMinor: true, cell: ({ description }) => description ?? "" },
  { title: "Begins with", cell: ({ prefix }) => <code>{prefix}…</code> },
  { title: "Created", isMinor: true, cell: ({ created }) => formatDate(created) },
];

async function askForAppKey(
  { api, overlays }: Context,
  path: { project_id: string; app: string },
): Promise<Schemas["NewAppKey"] | undefined> {
  return await askForm({ overlays }, {
    title: "New key",
    submit: "Create key",
    initial: { name: "", description: "" },
    fields: {
      name: { label: "Name" },
      description: { label: "Description", hint: "Optional: who or what uses it." },
    },
    send: ({ name, description }) =>
      dataOf(api.POST("/admin/v1/projects/{project_id}/apps/{app}/keys", {
        params: { path },
        body: { name: name.trim(), description: description.trim() || null },
      })),
  });
}

function Removal({ project, data: { app: { name } } }: AppProps) {
  const { api, router, toasts } = useApp();
  const remove = async () => {
    await api.DELETE("/admin/v1/projects/{project_id}/apps/{app}", {
      params: { path: { project_id: project, app: name } },
    });
    toasts.success("Application deleted");
    router.go(links.section(project, "apps"));
  };
  return (
    <RemoveSection
      heading="Delete the application"
      title={`Delete “${name}”?`}
      text="Its keys and addresses are deleted. The application itself is not touched."
      action="Delete application"
      run={remove}
    />
  );
}
