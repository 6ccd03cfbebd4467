import { AppWindow } from "lucide";
import type { Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { links } from "../core/links.ts";
import { useAnswer } from "../core/resource.ts";
import { OpenLink } from "../ui/button.tsx";
import { Collection } from "../ui/collection.tsx";
import type { Column } from "../ui/table.tsx";
import { askForApp } from "./app_form.tsx";

type App = Schemas["App"];

/** The applications of a project, which the gate puts keys in front of. */
export function Applications({ project }: { project: string }) {
  const app = useApp();
  const list = useAnswer((api, signal) => {
    const params = { path: { project_id: project } };
    return api.GET("/admin/v1/projects/{project_id}/apps", { params, signal });
  }, [project]);
  return (
    <Collection
      title="Applications"
      lead="Web applications beside this server. The gate lets in only people and programs with a key."
      from={list}
      rows={({ apps }) => apps}
      keyOf={({ name }) => name}
      columns={columnsOf(project)}
      empty={{
        icon: AppWindow,
        title: "No applications yet",
        text: "Add one to put keys in front of it.",
      }}
      create={{
        label: "New application",
        ask: () => askForApp(app, project),
        then: ({ name }) => app.router.go(links.app(project, name)),
      }}
      actions={(one) => {
        const address = addressOfApp(one, list.data?.gate ?? null, location.hostname);
        return address !== undefined && one.upstream !== null &&
          <OpenLink href={address} label={`Open ${one.name}`} />;
      }}
    />
  );
}

function columnsOf(project: string): Column<App>[] {
  return [
    {
      title: "Name",
      isMain: true,
      cell: ({ name }) => <a href={links.app(project, name)}>{name}</a>,
    },
    { title: "Access", cell: ({ access }) => <AccessBadge isOn={access.enabled} /> },
    { title: "Upstream", isMinor: true, cell: ({ upstream }) => upstream ?? "None" },
    { title: "Host name", isMinor: true, cell: ({ host }) => host ?? "None" },
  ];
}

export function AccessBadge({ isOn }: { isOn: boolean }) {
  return isOn
    ? <span class="badge good">Key required</span>
    : <span class="badge warn">Open to everyone</span>;
}

/** Returns the address at which callers open an application; `undefined` if the server has no gate. */
export function addressOfApp(
  { project_id, name, host }: Pick<Schemas["App"], "project_id" | "name" | "host">,
  gate: Schemas["AppList"]["gate"],
  hostname: string,
): string | undefined {
  if (gate === null) return undefined;
  const { scheme, port } = gate;
  const isDefault = port === (scheme === "https" ? 443 : 80);
  const address = `${scheme}://${host ?? hostname}${isDefault ? "" : `:${port}`}/`;
  return host === null
    ? `${address}${encodeURIComponent(project_id)}/${encodeURIComponent(name)}/`
    : address;
}
