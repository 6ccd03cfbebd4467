import { dataOf, type Schemas } from "../core/api.ts";
import type { App as Context } from "../core/context.ts";
import { askForm } from "../ui/form.tsx";

type App = Schemas["App"];

/** Asks for a new application, or for the addresses of an existing one. */
export async function askForApp(
  { api, session, overlays }: Context,
  project: string,
  app?: App,
): Promise<App | undefined> {
  const path = { project_id: project };
  const { isAdministrator } = session;
  const { host_suffix: suffix } = await dataOf(
    api.GET("/admin/v1/projects/{project_id}", { params: { path } }),
  );
  const mayName = isAdministrator || suffix !== null;
  return await askForm({ overlays }, {
    title: app === undefined ? "New application" : `Addresses of “${app.name}”`,
    submit: app === undefined ? "Create application" : "Save",
    intro: !isAdministrator && (
      <p class="soft">Only the administrator sets where this server finds the application.</p>
    ),
    initial: {
      name: "",
      upstream: app?.upstream ?? "",
      host: app?.host ?? "",
      isProtected: true,
    },
    fields: {
      name: {
        label: "Name",
        hint: "A part of its address.",
        spellcheck: false,
        isShown: () => app === undefined,
      },
      upstream: {
        label: "Upstream",
        hint: "Its address as seen from this server, such as http://127.0.0.1:3000.",
        spellcheck: false,
        isShown: () => isAdministrator,
      },
      host: {
        label: "Host name",
        hint: isAdministrator
          ? "A name of its own that leads to this server. Without one it is known by a path."
          : `A name below ${suffix}. Without one it is known by a path.`,
        spellcheck: false,
        isShown: () => mayName,
      },
      isProtected: {
        label: "Access control",
        hint: ({ isProtected }) =>
          isProtected
            ? "Only people and programs with a key of the application or the project get in."
            : "Everyone who knows the address gets in, without a key.",
        isShown: () => app === undefined,
      },
    },
    send: ({ name, upstream, host, isProtected }) => {
      const addresses = {
        ...(isAdministrator ? { upstream: upstream.trim() || null } : {}),
        ...(mayName ? { host: host.trim() || null } : {}),
      };
      const saved: Promise<{ data?: App }> = app === undefined
        ? api.POST("/admin/v1/projects/{project_id}/apps", {
          params: { path },
          body: { name: name.trim(), ...addresses, access: { enabled: isProtected } },
        })
        : api.PATCH("/admin/v1/projects/{project_id}/apps/{app}", {
          params: { path: { ...path, app: app.name } },
          body: addresses,
        });
      return dataOf(saved);
    },
  });
}
