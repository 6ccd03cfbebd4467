import { type Chosen, chosenFiles } from "./chosen_files.ts";

/** Opens the system's dialog to choose files or a folder. Returns nothing if the user closes it. */
export function chooseFiles(
  { isFolder, isMultiple = true }: { isFolder: boolean; isMultiple?: boolean },
): Promise<Chosen> {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = isMultiple;
  input.webkitdirectory = isFolder;
  return new Promise((resolve) => {
    input.onchange = () => resolve(chosenFiles(input.files ?? []));
    input.oncancel = () => resolve({ items: [], folders: [] });
    input.click();
  });
}
