import { useState } from "preact/hooks";
import type { App } from "../../core/context.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import type { DriveFiles } from "./drive_files.ts";
import { labelProblem } from "./naming.ts";

/** Asks for a name, and creates a folder below a path. Returns its whole name. */
export async function askForFolder(
  { overlays }: Pick<App, "overlays">,
  files: DriveFiles,
  path: string,
): Promise<string | undefined> {
  return await overlays.show<string>((close) => (
    <NewFolder files={files} path={path} onClose={close} />
  ));
}

function NewFolder({ files, path, onClose }: {
  files: DriveFiles;
  path: string;
  onClose: (name?: string) => void;
}) {
  const [label, setLabel] = useState("");
  const [problem, setProblem] = useState<string>();
  const create = async () => {
    const problem = labelProblem(label, await files.labelsIn(path));
    setProblem(problem);
    if (problem !== undefined) return;
    const name = `${path}${label}/`;
    await files.createFolder(name);
    onClose(name);
  };
  return (
    <FormDialog
      title="New folder"
      submit="Create"
      size="small"
      onClose={() => onClose()}
      onSubmit={create}
    >
      <TextField
        label="Name"
        value={label}
        problem={problem}
        autocomplete="off"
        onInput={(label) => {
          setLabel(label);
          setProblem(undefined);
        }}
      />
    </FormDialog>
  );
}
