/**
 * The client of a kvdrive server: files of any size, links, the trash, a feed of changes, and the administration of a
 * project. It runs in browsers, Node.js, Deno and Bun, and needs no other package.
 *
 * @example
 * ```ts
 * import { connect } from "kvdrive-client";
 *
 * const project = connect({ url, key });
 * const photos = project.drive("photos");
 * await photos.put("trip/a.jpg", new Blob(["…"], { type: "image/jpeg" }));
 * const file = await photos.get("trip/a.jpg");
 * await file?.bytes();
 * ```
 *
 * @module
 */
import { Project } from "./api/project.ts";
import { type ConnectOptions, transportOf } from "./api/transport.ts";

/**
 * Connects to the project of a key. Nothing is sent before the first call.
 *
 * @throws {KvdriveError} with the code `invalid_argument` if the address or the key is malformed.
 *
 * @example
 * ```ts
 * const project = connect({ url: "https://files.example.com", key });
 * project.drive("photos");
 * ```
 *
 * @example Another fetch, here one that counts the requests
 * ```ts
 * let count = 0;
 * const counting = (request: Request) => {
 *   count++;
 *   return fetch(request);
 * };
 * await connect({ url, key, fetch: counting }).whoami();
 * ```
 */
export function connect(options: ConnectOptions): Project {
  return new Project(transportOf(options));
}

export {
  type AppKeys,
  Apps,
  Keys,
  type ProjectKeys,
  type S3Keys,
  Webhooks,
} from "./api/administration.ts";
export type { Change, ChangePage, ChangePageOptions } from "./api/changes.ts";
export type { Content } from "./api/content.ts";
export { type ByteRange, DriveFile, type FileHead, type GetOptions } from "./api/download.ts";
export {
  type CopyManyOptions,
  type CopyOptions,
  Drive,
  type ListOptions,
  type PrefixResult,
} from "./api/drive.ts";
export { type ClientErrorCode, KvdriveError, type KvdriveErrorDetails } from "./api/error.ts";
export type { Conditions } from "./api/headers.ts";
export { Project } from "./api/project.ts";
export { Folders, Links, Trash } from "./api/sharing.ts";
export { Thumbnails } from "./api/thumbnails.ts";
export type { ConnectOptions } from "./api/transport.ts";
export type * from "./api/types.ts";
export type { PutOptions, UploadProgress } from "./api/upload.ts";
export { type FileAttributes, Uploads } from "./api/uploads.ts";
