import { copyField } from "../core/copy.js";
import { h } from "../core/dom.js";
import { formatBytes, formatCount, formatTime } from "../core/format.js";
import { curlLine } from "./curl_line.js";

/** @import { Api } from "../core/api.js" */
/** @import { Place } from "./upload_task.js" */

/**
 * The server's metadata of a file.
 *
 * @typedef {object} FileMetadata
 * @property {number} size bytes
 * @property {string} content_type
 * @property {string} etag with quotes, as in headers
 * @property {string | undefined} sha256 in hexadecimal digits, if known
 * @property {string | undefined} modified
 */

/**
 * @param {Pick<Api, "download">} api
 * @param {Place} place
 * @param {AbortSignal} signal
 * @returns {Promise<FileMetadata>}
 */
export async function readMetadata(api, { project, drive, name }, signal) {
  const { headers } = await api.download(project, drive, name, { method: "HEAD", signal });
  return {
    size: Number(headers.get("Content-Length")),
    content_type: headers.get("Content-Type") ?? "",
    etag: headers.get("ETag") ?? "",
    sha256: sha256Of(headers.get("Repr-Digest")),
    modified: headers.get("Last-Modified") ?? undefined,
  };
}

/**
 * The SHA-256 of a `Repr-Digest` (RFC 9530), as `sha256sum` writes it.
 *
 * @param {string | null} header
 * @returns {string | undefined}
 */
export function sha256Of(header) {
  const base64 = /(?:^|[\s,])sha-256=:([A-Za-z0-9+/=]+):/.exec(header ?? "")?.[1];
  if (base64 === undefined) return undefined;
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0"))
    .join("");
}

/**
 * @param {Place} place
 * @param {FileMetadata} metadata
 * @param {string | undefined} created
 * @returns {HTMLElement}
 */
export function createDetails(place, metadata, created) {
  const { size, content_type, etag, sha256, modified } = metadata;
  const rows = [
    ["Name", place.name],
    ["Size", size < 1000 ? `${size} B` : `${formatBytes(size)} (${formatCount(size)} bytes)`],
    ["Type", content_type],
    ["Created", created === undefined ? "not known" : formatTime(created)],
    ["Modified", modified === undefined ? "not known" : formatTime(modified)],
    ["ETag", etag],
    ["SHA-256", sha256 ?? "not known yet, because the file was uploaded in parts"],
  ];
  return h(
    "div",
    { class: "stack" },
    h(
      "dl",
      { class: "details" },
      rows.map(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]),
    ),
    copyField("With curl", curlLine(location.origin, place)),
  );
}
