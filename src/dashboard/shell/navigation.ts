import {
  Activity,
  AppWindow,
  Boxes,
  ChartColumn,
  Folder,
  HeartPulse,
  KeyRound,
  Link,
  Plug,
  Settings,
  Trash2,
  Upload,
} from "lucide";
import type { IconNode } from "lucide";
import { links, type Section } from "../core/links.ts";
import type { SessionStore } from "../core/session.ts";

/** An entry of the navigation. */
export interface NavigationEntry {
  section: string;
  label: string;
  icon: IconNode;
  href: string;
}

type ProjectEntry = readonly [section: Section, label: string, icon: IconNode];

function filesEntries(session: SessionStore): ProjectEntry[] {
  const mayList = session.may("list");
  const entries: (ProjectEntry | false)[] = [
    ["files", "Files", Folder],
    mayList && session.may("read") && ["links", "Links", Link],
    ["uploads", "Uploads", Upload],
    mayList && ["trash", "Trash", Trash2],
  ];
  return entries.filter((entry) => entry !== false);
}

const ADMINISTRATION: readonly ProjectEntry[] = [
  ["apps", "Applications", AppWindow],
  ["keys", "Keys", KeyRound],
  ["usage", "Usage", ChartColumn],
  ["events", "Activity", Activity],
  ["settings", "Settings", Settings],
];

const CONNECT: ProjectEntry = ["connect", "Connect", Plug];

/** The entries of a project that a session may use, in two groups: what people use most comes first. */
export function projectNavigation(session: SessionStore, project: string): NavigationEntry[][] {
  const administration = session.may("admin") ? ADMINISTRATION : [];
  return [filesEntries(session), [...administration, CONNECT]].map((group) =>
    group.map(([section, label, icon]) => ({
      section,
      label,
      icon,
      href: links.section(project, section),
    }))
  );
}

/** The entries outside projects, for the administrator. */
export function serverNavigation({ isAdministrator }: SessionStore): NavigationEntry[] {
  if (!isAdministrator) return [];
  return [
    { section: "projects", label: "Projects", icon: Boxes, href: links.projects() },
    { section: "status", label: "Health", icon: HeartPulse, href: links.status() },
    { section: "events", label: "Server activity", icon: Activity, href: links.serverEvents() },
  ];
}
