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

/** The views outside projects that the administrator opens. */
const SERVER_VIEWS: Readonly<Record<string, () => JSX.Element>> = {
  projects: () => <Projects />,
  status: () => <Status />,
  events: () => <Events />,
};

function serverView(section: string, { role }: Session): JSX.Element | undefined {
  if (section === "account") return <Account />;
  return role === "admin" ? own(SERVER_VIEWS, section)?.() : undefined;
}

/** The views of a project. @param name What follows the section in the address, such as a drive. */
const PROJECT_VIEWS: Readonly<Record<string, (project: string, name: string) => JSX.Element>> = {
  files: (project) => <Drives project={project} />,
  links: (project, drive) => <Links project={project} drive={drive} />,
  trash: (project, drive) => <Trash project={project} drive={drive} />,
  uploads: (project) => <Uploads project={project} />,
  apps: (project) => <Applications project={project} />,
  keys: (project) => <Keys project={project} />,
  usage: (project) => <Usage project={project} />,
  events: (project) => <Events project={project} />,
  settings: (project) => <Settings project={project} />,
  connect: (project) => <Connect project={project} />,
};

function projectView(
  project: string,
  section: string,
  [name = "", ...path]: readonly string[],
  query: URLSearchParams,
): JSX.Element | undefined {
  if (section === "files" && name !== "") {
    return <Folder project={project} drive={name} path={path.join("/")} query={query} />;
  }
  if (section === "apps" && name !== "") {
    return <ApplicationView key={name} project={project} app={name} />;
  }
  return own(PROJECT_VIEWS, section)?.(project, name);
}

/** Looks up what an address names, which may be anything. */
function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
