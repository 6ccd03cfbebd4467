import { useState } from "preact/hooks";
import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { useProject } from "../projects/use_project.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Checkbox, TextField, useText } from "../ui/field.tsx";

type App = Schemas["App"];

/** The form for a new application, or for the addresses of an existing one. */
export function AppForm({ project, app, onClose }: {
  project: string;
  app?: App;
  onClose: (saved?: App) => void;
}) {
  const { api, session } = useApp();
  const suffix = useProject(project).data?.host_suffix ?? null;
  const name = useText();
  const upstream = useText(app?.upstream ?? "");
  const host = useText(app?.host ?? "");
  const [isProtected, setProtected] = useState(true);
  const { isAdministrator } = session;
  const save = async () => {
    const addresses = {
      ...(isAdministrator ? { upstream: upstream.value.trim() || null } : {}),
      ...(isAdministrator || suffix !== null ? { host: host.value.trim() || null } : {}),
    };
    const path = { project_id: project };
    const saved: Promise<{ data?: App }> = app === undefined
      ? api.POST("/admin/v1/projects/{project_id}/apps", {
        params: { path },
        body: { name: name.value.trim(), ...addresses, access: { enabled: isProtected } },
      })
      : api.PATCH("/admin/v1/projects/{project_id}/apps/{app}", {
        params: { path: { ...path, app: app.name } },
        body: addresses,
      });
    onClose(await dataOf(saved));
  };
  return (
    <FormDialog
      title={app === undefined ? "New application" : `Addresses of “${app.name}”`}
      submit={app === undefined ? "Create application" : "Save"}
      onClose={onClose}
      onSubmit={save}
    >
      {app === undefined && (
        <TextField
          label="Name"
          hint="A part of its address."
          {...name}
          spellcheck={false}
        />
      )}
      {isAdministrator
        ? (
          <TextField
            label="Upstream"
            hint="Its address as seen from this server, such as http://127.0.0.1:3000."
            {...upstream}
            spellcheck={false}
          />
        )
        : <p class="soft">Only the administrator sets where this server finds the application.</p>}
      {(isAdministrator || suffix !== null) && (
        <TextField
          label="Host name"
          hint={suffix === null || isAdministrator
            ? "A name of its own that leads to this server. Without one it is known by a path."
            : `A name below ${suffix}. Without one it is known by a path.`}
          {...host}
          spellcheck={false}
        />
      )}
      {app === undefined && (
        <Checkbox
          label="Access control"
          hint={isProtected
            ? "Only people and programs with a key of the application or the project get in."
            : "Everyone who knows the address gets in, without a key."}
          checked={isProtected}
          onChange={setProtected}
        />
      )}
    </FormDialog>
  );
}
