import { HttpResponse, ResponseHeaders } from "../../http/responses/http_response.ts";
import { sendFile } from "../../http/responses/send_file.ts";
import { formatDigest } from "../../http/body.ts";
import { fileDisposition, secureShared } from "../../api/sharing/shared_headers.ts";
import { validators } from "../../store/files/file_record.ts";
import type { DavCall, DavDeps } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { findResource, hrefOfResource, openFile, requireVisible } from "../resource.ts";

const encoder = new TextEncoder();

/** What each response with a body has. */
const COMMON = new ResponseHeaders({ "Cache-Control": "private, no-cache" });
// A browser that has sent the key once would let pages with this origin use it.
secureShared(COMMON);

/** `GET` and `HEAD`: the bytes of a file, or a range of them. */
export async function get(call: DavCall, deps: DavDeps): Promise<Response> {
  const opened = await openFile(call, deps, call.path);
  if (opened === undefined) {
    const resource = await findResource(call, deps, call.path);
    requireVisible(call, resource);
    if (resource.kind === "file" || resource.kind === "absent") throw davErrors.notFound();
    return folderText(hrefOfResource(call, deps, resource));
  }
  const { place, file } = opened;
  const { record } = file;
  const { type, version, modified, sha256 } = record;
  const headers = COMMON.copy();
  headers.set("Content-Type", type);
  headers.set("Content-Disposition", fileDisposition({ name: place.name, type }, false));
  headers.set("Accept-Ranges", "bytes");
  headers.set("ETag", `"${version}"`);
  headers.set("Last-Modified", new Date(modified).toUTCString());
  if (sha256 !== undefined) headers.set("Repr-Digest", formatDigest(sha256));
  return await sendFile(call, deps, file, { headers, validators: validators(record) });
}

/** What a browser shows at the address of a folder. */
function folderText(href: string): Response {
  const body = encoder.encode(
    `${href} is a folder. Open its address with a WebDAV client: see docs/webdav.md\n`,
  );
  const headers = COMMON.copy();
  headers.set("Content-Type", "text/plain; charset=utf-8");
  headers.set("Content-Length", String(body.byteLength));
  return new HttpResponse(body, { headers });
}
