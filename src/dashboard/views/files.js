import { openDrives } from "../files/drives_view.js";
import { openFolder } from "../files/folder_view.js";
import { asFolder } from "../files/names.js";

/** @import { OpenView } from "../core/types.d.ts" */

/** The drives of a project, or a folder of one of them. @type {OpenView} */
export function open(context, { project, drive, path }) {
  if (drive === "") return openDrives(context, project);
  return openFolder(context, { project, drive, folder: asFolder(path) });
}
