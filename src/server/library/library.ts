/**
 * What programs see of the server as a library: see docs/embedding.md.
 *
 * @module
 */
import type { Project } from "../../client/mod.ts";
import type { RemoteStore } from "../../store/remote/remote_database.ts";
import type { ReadMode } from "../../store/reads/read_mode.ts";
import type { RequestInfo } from "../runtime_handler.ts";

/** A time: milliseconds, or a text such as `"30s"`, `"5m"` or `"24h"`. */
export type Time = number | string;

/** A size: bytes, or a text such as `"64MiB"` or `"1GB"`. */
export type Size = number | string;

/** The options of `openServer`. Those with a counterpart in `kvdrive serve` have its name and its default. */
export interface OpenServerOptions {
  /** The folder of the store, which is created if needed. Either this or `kv` is required. */
  data?: string | undefined;
  /** A shared store: the URL of a server of KV Connect, or a `Deno.Kv`, which its owner closes after the server. */
  kv?: string | URL | RemoteStore["kv"];
  /** The administrator's token, of at least 22 characters. Without it, the one that the store has stays valid. */
  adminToken?: string | undefined;
  /** A project key, `<project id>_<secret>`. The project is created if needed. Without it, no project is created. */
  projectKey?: string | undefined;
  /** The path that the server is below, such as `"/files"`. Requests for other paths get 404. Default: none. */
  basePath?: string | undefined;
  /** Where requests, failures and notices go: to a function, line by line in JSON, or as `text` or `json` to the standard output and error. Default: `off`, which drops them. */
  log?: "text" | "json" | "off" | ((line: string) => void) | undefined;
  /** Whether the dashboard is served. Default: true. */
  dashboard?: boolean | undefined;
  /** The address that clients use, such as `"https://files.example.com"`. Default: that of each request. */
  publicUrl?: string | undefined;
  /** A host name of its own for links; nothing else is served there. */
  shareHost?: string | undefined;
  /** The host name of S3; buckets are names below it. It cannot be combined with `basePath`. */
  s3Domain?: string | undefined;
  /** Whether drives are network folders over WebDAV, at `/dav`. Default: true. */
  webdav?: boolean | undefined;
  /** Whether WebDAV accepts keys without https from other machines, and from clients of unknown address. Default: false. */
  webdavPlain?: boolean | undefined;
  /** Whether WebDAV refuses the `._` and `.DS_Store` files of macOS. Default: false. */
  webdavNoJunk?: boolean | undefined;
  /** What encrypts S3 keys: 32 bytes in base64. Default: a file in `data`; with `kv`, there are no S3 keys without it. */
  s3Secret?: string | undefined;
  /** The token for metrics. The administrator's token is accepted as well. */
  metricsToken?: string | undefined;
  /** The origins whose pages may call the API. Default: `"*"`. */
  corsOrigin?: string | readonly string[] | undefined;
  /** The addresses or networks of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  trustedProxy?: string | readonly string[] | undefined;
  /** How many days the trash of new projects keeps files; 0 for no trash. Default: 0. */
  trashDays?: number | undefined;
  /** The hosts, addresses or networks of this machine and of private networks that webhooks may call. Default: none. */
  allowWebhook?: string | readonly string[] | undefined;
  /** The lifetime of an upload in parts. Default: 24 hours. */
  uploadTtl?: Time | undefined;
  /** The time without a byte after which an upload ends; a download, ten times. Default: 60 seconds. */
  idleTimeout?: Time | undefined;
  /** How long `close` waits for running requests. Default: 3 seconds. */
  shutdownTimeout?: Time | undefined;
  /** The time between two checks of all files in the background, or `"off"`. Default: 30 days; with `kv`, off. */
  scrubEvery?: Time | undefined;
  /** The memory for transfers and caches of this server. Default: a share of the machine's. */
  memoryBudget?: Size | undefined;
  /** The disk space that uploads leave free. Default: 64 MiB. */
  diskReserve?: Size | undefined;
  /** The least average rate of an upload, per second; 0 for none. Default: 1 KiB. */
  minUploadRate?: Size | undefined;
  /** Concurrent uploads; more of them wait. Default: 64. */
  maxUploads?: number | undefined;
  /** Open uploads in parts of a project. Default: 1000. */
  maxOpenUploads?: number | undefined;
  /** Whether `failed` of a delete is an object of name and reason, for one client in Go. Default: false. */
  failedReasons?: boolean | undefined;
  /** How the files of `data` are read. Default: `mapped`. */
  reads?: ReadMode | undefined;
}

/** A server within this program. Its methods need no `this`. */
export interface OpenServer extends AsyncDisposable {
  /**
   * Responds to a request, for `Deno.serve` and other programs. After `close` it answers 503.
   *
   * @param info What `Deno.serve` passes. Without the address of the client, all clients share one allowance of wrong keys.
   */
  fetch(request: Request, info?: RequestInfo): Promise<Response>;
  /**
   * Connects to a project, without a socket: the client is that of the package `kvdrive-client`. Links that it creates
   * have the host `localhost` unless the server has a `publicUrl`.
   *
   * @param key A project key. Default: the option `projectKey`.
   * @throws {TypeError} without any key. @throws {KvdriveError} if the key is malformed.
   */
  connect(key?: string): Project;
  /**
   * Waits for running requests, at most for `shutdownTimeout`, ends the others, and closes the store. Calling it again
   * returns the same promise.
   */
  close(): Promise<void>;
}
