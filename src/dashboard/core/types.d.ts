/**
 * Types that the modules of the dashboard share, and types of the server's answers.
 *
 * @module
 */
import type { Api } from "./api.js";
import type { Notices } from "./notices.js";
import type { Session } from "./session.js";
import type { Uploads } from "../files/upload_queue.js";

/** Children of an element. Numbers become text; `null`, `undefined` and `false` are left out. */
export type Child = Node | string | number | false | null | undefined | Child[];

/** Attributes by their names; `true` is an empty attribute; `false` and `undefined` are left out. */
export interface Props {
  /** Listeners by their event. */
  on?: { [E in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[E]) => void };
  /** Custom properties. The page's policy refuses a `style` attribute. */
  style?: Record<string, string>;
  [attribute: string]: unknown;
}

/** Credentials. A project key opens that project, the administrator's token everything. */
export type Credentials =
  | { kind: "admin"; secret: string }
  | { kind: "project"; secret: string; project: string };

/** Arguments of every view. */
export interface Context {
  api: Api;
  session: Session;
  notices: Notices;
  /** Uploads continue while another view is open. */
  uploads: Uploads;
  /** Opens another view by its address, as `links` makes them. */
  go(hash: string): void;
  /** Aborted when the view is closed; ends its listeners and calls. */
  signal: AbortSignal;
}

/** A view. Its title is shown in the browser's tab. */
export interface View {
  title: string;
  element: HTMLElement;
  close?(): void;
}

/** The export `open` of every module in `views/`. */
export type OpenView = (context: Context, params: Params) => View;

/** Parameters of an address; empty if absent. */
export interface Params {
  project: string;
  drive: string;
  /** A folder as a prefix of names: empty, or ending with `/`. */
  path: string;
  app: string;
}

/** Bytes of the store's volume; `null` if unknown. */
export interface Disk {
  total: number | null;
  free: number | null;
}

/** Which files are damaged. */
export interface Integrity {
  damaged_files: number;
  damaged: { project_id: string; drive_name: string; name: string; problem: string }[];
}

/** State of the server's backups. */
export interface Backups {
  newest: string | null;
  /** Seconds. */
  every: number;
  failures: number;
  /** What is wrong, as a sentence. */
  problem: string | null;
}

export interface Drive {
  drive_name: string;
  files: number;
  bytes: number;
}

export interface Project {
  project_id: string;
  name: string | null;
  created: string;
  /** Limit of the bytes of its files and open uploads; `null` for none. */
  max_bytes: number | null;
  /** The domain below which its owner may choose host names for applications; `null` for none. */
  host_suffix: string | null;
  files: number;
  bytes: number;
  /** Of the parts of open uploads. */
  open_upload_bytes: number;
}

export interface ProjectDetails extends Project {
  drives: Drive[];
  /** For the administrator only. */
  disk?: Disk;
}

export interface NewProject {
  project_id: string;
  name: string | null;
  created: string;
  max_bytes: number | null;
  host_suffix: string | null;
  project_key: string;
  prefix: string;
}

export interface ProjectKey {
  prefix: string;
  name: string | null;
  created: string;
}

export interface NewProjectKey extends ProjectKey {
  project_key: string;
}

export interface Application {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

/** Where the gate to applications listens. */
export interface GatePlace {
  port: number;
  scheme: "http" | "https";
}

export interface AppKey {
  name: string;
  description: string | null;
  prefix: string;
  created: string;
}

export interface NewAppKey extends AppKey {
  api_key: string;
}

/** Folders have only their name. */
export interface FileDetails {
  name: string;
  size?: number;
  content_type?: string;
  etag?: string;
  created?: string;
  modified?: string;
}

export interface Paging {
  paging?: { size: number; last: string };
}

export interface FilePage extends Paging {
  names: string[];
  files?: FileDetails[];
}

export interface OpenUpload {
  upload_id: string;
  name: string;
  created: string;
  expires: string;
}

export interface UploadPage extends Paging {
  uploads: OpenUpload[];
}

export interface UploadState extends OpenUpload {
  project_id: string;
  drive_name: string;
  parts: { part: number; size: number }[];
}

export interface ListOptions {
  prefix?: string;
  last?: string;
  limit?: number;
  /** If false, names end at the first `/` after the prefix. */
  recursive?: boolean;
  signal?: AbortSignal;
}

export interface SendOptions {
  signal?: AbortSignal;
  /** Called with the bytes sent so far. */
  onProgress?: (sent: number) => void;
  /** The file's type; without it the server derives it from the name. */
  type?: string;
  /** More headers, such as `Content-Digest`. */
  headers?: Record<string, string>;
}
