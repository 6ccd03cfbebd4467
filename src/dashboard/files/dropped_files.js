/**
 * A chosen or dropped file with its relative path: `photos/2021/a.jpg`.
 *
 * @typedef {{file: File, path: string}} ChosenFile
 */

/**
 * The files of a file input. Files of a chosen folder have a relative path.
 *
 * @param {Iterable<File>} files
 * @returns {ChosenFile[]}
 */
export function chosenFiles(files) {
  return Array.from(files, (file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/**
 * The dropped entries. Must be called during the drop event: browsers clear the data afterwards.
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
 * The dropped files, including those in dropped folders, in traversal order.
 *
 * @param {readonly (FileSystemEntry | File)[]} entries
 * @param {(count: number) => void} [onFound] called with the number of files found so far
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
 * Browsers return a folder in batches (Chromium: of 100); an empty batch is the end.
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
