import type { JSX } from "preact";
import { Account } from "../settings/account.tsx";
import { ApplicationView } from "../applications/application.tsx";
import { Applications } from "../applications/applications.tsx";
import type { Address } from "../core/router.ts";
import type { Session } from "../core/session.ts";
import { Drives } from "../files/drives.tsx";
import { Folder } from "../files/folder.tsx";
import { Events } from "../events/events.tsx";
import { Keys } from "../keys/keys.tsx";
import { Connect } from "../settings/connect.tsx";
import { Links } from "../links/links_view.tsx";
import { Projects } from "../projects/projects.tsx";
import { Status } from "../projects/status.tsx";
import { Usage } from "../projects/usage.tsx";
import { Settings } from "../settings/settings.tsx";
import { Trash } from "../trash/trash.tsx";
import { Uploads } from "../transfers/uploads_view.tsx";

/** A view of an address. */
export interface OpenView {
  /** The section that the navigation marks. */
  section: string;
  /** The project that the view belongs to. */
  project?: string;
  node: JSX.Element;
}

/** Finds the view of an address; `undefined` if there is none, or the session may not open it. */
export function viewOf({ segments, query }: Address, session: Session): OpenView | undefined {
  const [first, project = "", section = "files", ...rest] = segments;
  if (first === "p") {
    if (project === "" || !mayOpen(session, project)) return undefined;
    const node = projectView(project, section, rest, query);
    return node === undefined ? undefined : { section, project, node };
  }
  if (segments.length !== 1 || first === undefined) return undefined;
  const node = serverView(first, session);
  return node === undefined ? undefined : { section: first, node };
}

/** A key opens one project. */
function mayOpen({ role, project_id }: Session, project: string): boolean {
  return role === "admin" || project_id === project;
}

function serverView(section: string, { role }: Session): JSX.Element | undefined {
  if (section === "account") return <Account />;
  if (role !== "admin") return undefined;
  switch (section) {
    case "projects":
      return <Projects />;
    case "status":
      return <Status />;
    case "events":
      return <Events />;
    default:
      return undefined;
  }
}

function projectView(
  project: string,
  section: string,
  rest: readonly string[],
  query: URLSearchParams,
): JSX.Element | undefined {
  const [name = "", ...path] = rest;
  if (section === "files" && name !== "") {
    return <Folder project={project} drive={name} path={path.join("/")} query={query} />;
  }
  if (section === "apps" && name !== "") {
    return <ApplicationView key={name} project={project} app={name} />;
  }
  switch (section) {
    case "files":
      return <Drives project={project} />;
    case "links":
      return <Links project={project} drive={name} />;
    case "trash":
      return <Trash project={project} drive={name} />;
    case "uploads":
      return <Uploads project={project} />;
    case "apps":
      return <Applications project={project} />;
    case "keys":
      return <Keys project={project} />;
    case "usage":
      return <Usage project={project} />;
    case "events":
      return <Events project={project} />;
    case "settings":
      return <Settings project={project} />;
    case "connect":
      return <Connect project={project} />;
    default:
      return undefined;
  }
}
