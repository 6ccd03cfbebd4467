/**
 * What the modules of the dashboard give each other, and what the server answers.
 *
 * @module
 */
import type { Api } from "./api.js";
import type { Notices } from "./notices.js";
import type { Session } from "./session.js";
import type { Uploads } from "../files/upload_queue.js";

/** What an element may hold. Numbers are written out; what is nothing or `false` is left out. */
export type Child = Node | string | number | false | null | undefined | Child[];

/** Attributes by their names; `true` stands for an empty one, and what is `false` or nothing is left out. */
export interface Props {
  /** Listeners by their event. */
  on?: { [E in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[E]) => void };
  /** Custom properties. The page's policy refuses a `style` attribute. */
  style?: Record<string, string>;
  [attribute: string]: unknown;
}

/** Who is signed in. A project's key opens that project, the administrator's token everything. */
export type Credentials =
  | { kind: "admin"; secret: string }
  | { kind: "project"; secret: string; project: string };

/** What every view gets. */
export interface Context {
  api: Api;
  session: Session;
  notices: Notices;
  /** Uploads go on while another view is open. */
  uploads: Uploads;
  /** Opens another view by its address, as `links` makes them. */
  go(hash: string): void;
  /** Aborted when the view is left: listeners and calls that hang on it end then. */
  signal: AbortSignal;
}

/** A screen. Its title stands in the browser's tab. */
export interface View {
  title: string;
  element: HTMLElement;
  close?(): void;
}

/** What every module in `views/` exports as `open`. */
export type OpenView = (context: Context, params: Params) => View | Promise<View>;

/** What an address names. What it does not name is empty. */
export interface Params {
  project: string;
  drive: string;
  /** A folder as a prefix of names: empty, or with its `/` at the end. */
  path: string;
  app: string;
}

/** Bytes of the volume that the store is on; `null` where they are not known. */
export interface Disk {
  total: number | null;
  free: number | null;
}

/** Which files are damaged. */
export interface Integrity {
  damaged_files: number;
  damaged: { project_id: string; drive_name: string; name: string; problem: string }[];
}

/** How the server's backups are. */
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
  /** What its files and open uploads may have together; `null` where that is not limited. */
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
  /** For the administrator alone. */
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

/** Of a directory only its name is told. */
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
  /** Unless it is true, names end at the first `/` behind the prefix. */
  recursive?: boolean;
  signal?: AbortSignal;
}

export interface SendOptions {
  signal?: AbortSignal;
  /** Told how many bytes have left so far. */
  onProgress?: (sent: number) => void;
  /** The file's type; without it the server goes by the name. */
  type?: string;
  /** More headers, such as `Content-Digest`. */
  headers?: Record<string, string>;
}
