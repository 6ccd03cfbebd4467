/**
 * Names of files, and the folders in them. A folder is a prefix that ends with a slash; the empty one is the drive's
 * root.
 *
 * @module
 */

/**
 * The last segment of a name: of `a/b.txt` it is `b.txt`, of the folder `a/b/` it is `b`.
 *
 * @param {string} name
 */
export function baseName(name) {
  const end = name.endsWith("/") ? name.length - 1 : name.length;
  return name.slice(name.lastIndexOf("/", end - 1) + 1, end);
}

/**
 * The parent folder of a file or folder.
 *
 * @param {string} name
 */
export function parentOf(name) {
  const end = name.endsWith("/") ? name.length - 1 : name.length;
  return end === 0 ? "" : name.slice(0, name.lastIndexOf("/", end - 1) + 1);
}

/**
 * The ancestors of a folder, outermost first, and itself.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function ancestors(folder) {
  const folders = [];
  for (let slash = folder.indexOf("/"); slash !== -1; slash = folder.indexOf("/", slash + 1)) {
    folders.push(folder.slice(0, slash + 1));
  }
  return folders;
}

/**
 * The displayed part of a name in a folder. Empty segments get a placeholder, so that they can be clicked.
 *
 * @param {string} name
 * @param {string} folder
 */
export function displayName(name, folder) {
  const rest = name.startsWith(folder) ? name.slice(folder.length) : name;
  return rest.replace(/\/$/, "") === "" ? "(no name)" : rest.replace(/\/$/, "");
}

/**
 * A folder from the page's address, with a trailing slash added if it is missing.
 *
 * @param {string} path
 */
export function asFolder(path) {
  return path === "" || path.endsWith("/") ? path : `${path}/`;
}

/**
 * The name under which a file is saved: one segment without path separators.
 *
 * @param {string} name
 */
export function saveName(name) {
  const base = baseName(name);
  return base === "" || base === "." || base === ".." ? "download" : base;
}
