/** A file to send, with its path below the folder that it is sent to. */
export interface UploadItem {
  file: File;
  /** Such as `trip/a.jpg`; the file's name unless it came with a folder. */
  path: string;
}

export interface Dropped {
  items: UploadItem[];
  /** The paths of folders without content; they end with a slash. */
  folders: string[];
}

/** The name that browsers give to an image of the clipboard. */
const PASTED_IMAGE = "image.png";

/** Opens the system's dialog to choose files or a folder. Returns nothing if the user closes it. */
export function chooseFiles({ isFolder = false, isMultiple = true }): Promise<UploadItem[]> {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = isMultiple;
  input.webkitdirectory = isFolder;
  return new Promise((resolve) => {
    input.onchange = () => resolve(chosenFiles(input.files ?? []));
    input.oncancel = () => resolve([]);
    input.click();
  });
}

/** Returns the files of a file input. Those of a chosen folder have a path. */
export function chosenFiles(files: Iterable<File>): UploadItem[] {
  return Array.from(files, (file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** Returns pasted files. An image without a name of its own gets one with the time. */
export function pastedFiles(files: Iterable<File>, now = new Date()): UploadItem[] {
  const time = now.toLocaleString("sv").replaceAll(":", ".");
  return Array.from(files, (file) => ({
    file,
    path: file.name === PASTED_IMAGE ? `Pasted image ${time}.png` : file.name,
  }));
}

/** Returns what was dropped. To be called during the event: browsers clear the data afterwards. */
export function droppedEntries({ items }: DataTransfer): (FileSystemEntry | File)[] {
  return Array.from(items).flatMap((item) =>
    item.kind === "file" ? item.webkitGetAsEntry() ?? item.getAsFile() ?? [] : []
  );
}

/**
 * Reads dropped folders with everything in them.
 *
 * @param onFound Called with the number of files so far.
 * @throws {DOMException} If a file or folder cannot be read.
 */
export async function filesIn(
  entries: readonly (FileSystemEntry | File)[],
  onFound: (count: number) => void = () => {},
): Promise<Dropped> {
  const chosen: Dropped = { items: [], folders: [] };
  const waiting = entries.toReversed();
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (entry instanceof File) {
      chosen.items.push({ file: entry, path: entry.name });
    } else if (isFile(entry)) {
      chosen.items.push({ file: await fileOf(entry), path: pathOf(entry) });
    } else if (isFolder(entry)) {
      const children = await childrenOf(entry);
      if (children.length === 0) chosen.folders.push(`${pathOf(entry)}/`);
      for (const child of children.toReversed()) waiting.push(child);
    }
    onFound(chosen.items.length);
  }
  return chosen;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function pathOf({ fullPath }: FileSystemEntry): string {
  return fullPath.replace(/^\//, "");
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** Browsers return a folder in batches (Chromium: of 100); an empty batch is the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  while (true) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject)
    );
    if (batch.length === 0) return children;
    for (const entry of batch) children.push(entry);
  }
}
