/**
 * A file that a person chose or dropped, and where it stood below that: `photos/2021/a.jpg`.
 *
 * @typedef {{file: File, path: string}} ChosenFile
 */

/**
 * The files of a file input. Those of a chosen folder know their path.
 *
 * @param {Iterable<File>} files
 * @returns {ChosenFile[]}
 */
export function chosenFiles(files) {
  return Array.from(files, (file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/**
 * What was dropped. It has to be asked while the drop is told of: afterwards a browser has forgotten it.
 *
 * @param {DataTransfer} transfer
 * @returns {(FileSystemEntry | File)[]}
 */
export function droppedEntries(transfer) {
  return Array.from(transfer.items).flatMap((item) => {
    if (item.kind !== "file") return [];
    return item.webkitGetAsEntry() ?? item.getAsFile() ?? [];
  });
}

/**
 * The files of what was dropped, those in its folders too, in the order of a walk.
 *
 * @param {readonly (FileSystemEntry | File)[]} entries
 * @param {(count: number) => void} [onFound] told how many files there are so far
 * @returns {Promise<ChosenFile[]>}
 */
export async function filesOf(entries, onFound = () => {}) {
  /** @type {ChosenFile[]} */
  const found = [];
  const waiting = entries.toReversed();
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (entry instanceof File) {
      found.push({ file: entry, path: entry.name });
    } else if (isFileEntry(entry)) {
      const file = await fileOf(entry);
      found.push({ file, path: entry.fullPath.replace(/^\//, "") });
    } else if (isDirectoryEntry(entry)) {
      waiting.push(...(await childrenOf(entry)).toReversed());
    }
    onFound(found.length);
  }
  return found;
}

/**
 * @param {FileSystemEntry} entry
 * @returns {entry is FileSystemFileEntry}
 */
function isFileEntry(entry) {
  return entry.isFile;
}

/**
 * @param {FileSystemEntry} entry
 * @returns {entry is FileSystemDirectoryEntry}
 */
function isDirectoryEntry(entry) {
  return entry.isDirectory;
}

/**
 * @param {FileSystemFileEntry} entry
 * @returns {Promise<File>}
 */
function fileOf(entry) {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/**
 * A browser gives a folder in batches (Chromium: of 100); an empty one is the end.
 *
 * @param {FileSystemDirectoryEntry} directory
 * @returns {Promise<FileSystemEntry[]>}
 */
async function childrenOf(directory) {
  const reader = directory.createReader();
  /** @type {FileSystemEntry[]} */
  const children = [];
  while (true) {
    /** @type {FileSystemEntry[]} */
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return children;
    children.push(...batch);
  }
}
