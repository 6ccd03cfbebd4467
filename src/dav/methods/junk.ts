import type { Place } from "../../store/engine/records.ts";
import type { DavDeps } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { lastSegment } from "../dav_path.ts";

/** What macOS writes beside files: their attributes (AppleDouble), and how a folder is shown. */
const JUNK = /^(?:\._.*|\.DS_Store)$/;

/** @throws {DavError} 403 for a file of macOS, with `--webdav-no-junk`. */
export function refuseJunk({ webdav: { refusesJunk } }: DavDeps, { name }: Place): void {
  if (refusesJunk && JUNK.test(lastSegment(name))) {
    throw davErrors.forbidden("This server does not keep ._ files and .DS_Store of macOS");
  }
}
