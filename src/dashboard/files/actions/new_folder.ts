import type { App } from "../../core/context.ts";
import { askForText } from "../../ui/dialog.tsx";
import type { DriveFiles } from "./drive_files.ts";
import { labelProblem } from "./naming.ts";

/** Asks for a name, and creates a folder below a path. Returns its whole name. */
export async function askForFolder(
  app: Pick<App, "overlays">,
  files: DriveFiles,
  path: string,
): Promise<string | undefined> {
  const label = await askForText(app, {
    title: "New folder",
    submit: "Create",
    label: "Name",
    problemOf: (label) => labelProblem(label, (label) => files.isTaken(path + label)),
  }, (label) => files.createFolder(`${path}${label}/`));
  return label === undefined ? undefined : `${path}${label}/`;
}
