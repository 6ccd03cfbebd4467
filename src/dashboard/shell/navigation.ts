import {
  Activity,
  AppWindow,
  ChartColumn,
  Folder,
  KeyRound,
  Link,
  Plug,
  Settings,
  Trash2,
  Upload,
} from "lucide";
import type { IconNode } from "lucide";
import type { Section } from "../core/links.ts";
import type { SessionStore } from "../core/session.ts";

/** An entry of the navigation of a project. */
export interface NavigationEntry {
  section: Section;
  label: string;
  icon: IconNode;
}

const FILES: NavigationEntry[] = [
  { section: "files", label: "Files", icon: Folder },
  { section: "links", label: "Links", icon: Link },
  { section: "uploads", label: "Uploads", icon: Upload },
  { section: "trash", label: "Trash", icon: Trash2 },
];

const ADMINISTRATION: NavigationEntry[] = [
  { section: "apps", label: "Applications", icon: AppWindow },
  { section: "keys", label: "Keys", icon: KeyRound },
  { section: "usage", label: "Usage", icon: ChartColumn },
  { section: "events", label: "Activity", icon: Activity },
  { section: "settings", label: "Settings", icon: Settings },
];

const CONNECT: NavigationEntry = { section: "connect", label: "Connect", icon: Plug };

/** The entries that a session may use, in groups. */
export function navigationOf(session: SessionStore): NavigationEntry[][] {
  const administration = session.may("admin") ? ADMINISTRATION : [];
  return [FILES, [...administration, CONNECT]];
}
