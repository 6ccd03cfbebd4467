import {
  Activity,
  AppWindow,
  Boxes,
  ChartColumn,
  Folder as FolderIcon,
  HeartPulse,
  type IconNode,
  KeyRound,
  Link,
  Plug,
  Settings as SettingsIcon,
  Trash2,
  Upload,
  Webhook,
} from "lucide";
import type { JSX } from "preact";
import { ApplicationView } from "../applications/application.tsx";
import { Applications } from "../applications/applications.tsx";
import { links, type Section } from "../core/links.ts";
import type { Address } from "../core/router.ts";
import type { Permission, Session, SessionStore } from "../core/session.ts";
import { Events } from "../events/events.tsx";
import { FileEvents } from "../events/file_events.tsx";
import { Drives } from "../files/drives.tsx";
import { Folder } from "../files/folder.tsx";
import { Keys } from "../keys/keys.tsx";
import { Links } from "../links/links_view.tsx";
import { Projects } from "../projects/projects.tsx";
import { Status } from "../projects/status.tsx";
import { Usage } from "../projects/usage.tsx";
import { Account } from "../settings/account.tsx";
import { Connect } from "../settings/connect.tsx";
import { Settings } from "../settings/settings.tsx";
import { Trash } from "../trash/trash.tsx";
import { Uploads } from "../transfers/uploads_view.tsx";
import { Webhooks } from "../webhooks/webhooks.tsx";

export interface NavigationEntry {
  section: string;
  label: string;
  icon: IconNode;
  href: string;
}

type ProjectSection = readonly [
  section: Section,
  label: string,
  icon: IconNode,
  /** What a session needs to see it in the navigation. */
  needs: readonly Permission[],
  /** @param name What follows the section in the address. */
  view: (project: string, name: string) => JSX.Element,
];

/** The sections of a project, in two groups: what people use most comes first. */
const PROJECT_SECTIONS: readonly (readonly ProjectSection[])[] = [
  [
    ["files", "Files", FolderIcon, [], (project) => <Drives project={project} />],
    [
      "links",
      "Links",
      Link,
      ["list", "read"],
      (project) => <Links project={project} />,
    ],
    ["uploads", "Uploads", Upload, [], (project) => <Uploads project={project} />],
    ["trash", "Trash", Trash2, ["list"], (project) => <Trash project={project} />],
  ],
  [
    ["apps", "Applications", AppWindow, ["admin"], (project) => <Applications project={project} />],
    ["keys", "Keys", KeyRound, ["admin"], (project) => <Keys project={project} />],
    [
      "webhooks",
      "Webhooks",
      Webhook,
      ["admin", "list"],
      (project) => <Webhooks project={project} />,
    ],
    ["usage", "Usage", ChartColumn, ["admin"], (project) => <Usage project={project} />],
    [
      "events",
      "Activity",
      Activity,
      ["admin"],
      (project, part) =>
        part === "files" ? <FileEvents project={project} /> : <Events project={project} />,
    ],
    ["settings", "Settings", SettingsIcon, ["admin"], (project) => <Settings project={project} />],
    ["connect", "Connect", Plug, [], (project) => <Connect project={project} />],
  ],
];

type ServerSection = readonly [section: string, label: string, icon: IconNode, () => JSX.Element];

/** The sections outside projects, for the administrator. */
const SERVER_SECTIONS: readonly ServerSection[] = [
  ["projects", "Projects", Boxes, () => <Projects />],
  ["status", "Health", HeartPulse, () => <Status />],
  ["events", "Server activity", Activity, () => <Events />],
];

/** The entries of a project that a session may use. */
export function projectNavigation(session: SessionStore, project: string): NavigationEntry[][] {
  return PROJECT_SECTIONS.map((group) =>
    group.filter(([, , , needs]) => needs.every((permission) => session.may(permission)))
      .map(([section, label, icon]) => (
        { section, label, icon, href: links.section(project, section) }
      ))
  );
}

/** The entries outside projects that a session may use. */
export function serverNavigation({ isAdministrator }: SessionStore): NavigationEntry[] {
  if (!isAdministrator) return [];
  return SERVER_SECTIONS.map(([section, label, icon]) => (
    { section, label, icon, href: `#/${section}` }
  ));
}

/**
 * Finds the view of an address, and the section that the navigation marks; `undefined` if there is none, or the session
 * may not open it.
 */
export function viewOf({ segments, query }: Address, session: Session) {
  const [first, project = "", section = "files", ...rest] = segments;
  if (first === "p") {
    // A key opens one project.
    const mayOpen = session.role === "admin" || session.project_id === project;
    if (project === "" || !mayOpen) return undefined;
    const node = projectView(project, section, rest, query);
    return node === undefined ? undefined : { section, project, node };
  }
  if (segments.length !== 1 || first === undefined) return undefined;
  if (first === "account") {
    return { section: first, project: session.project_id ?? undefined, node: <Account /> };
  }
  const node = session.role === "admin"
    ? SERVER_SECTIONS.find(([section]) => section === first)?.[3]()
    : undefined;
  return node === undefined ? undefined : { section: first, node };
}

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
  const found = PROJECT_SECTIONS.flat().find(([one]) => one === section);
  return found?.[4](project, name);
}
