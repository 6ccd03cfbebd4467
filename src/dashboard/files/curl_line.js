import { saveName } from "./names.js";

/**
 * A shell command that downloads a file, with the key in the variable `KEY`.
 *
 * @param {string} origin of the server
 * @param {{project: string, drive: string, name: string}} place
 */
export function curlLine(origin, { project, drive, name }) {
  const path = `/v1/${encodeURIComponent(project)}/${encodeURIComponent(drive)}/files/download`;
  const address = `${origin}${path}?name=${encodeURIComponent(name.toWellFormed())}`;
  return `curl -H "X-Api-Key: $KEY" -o ${quoted(savePath(name))} ${quoted(address)}`;
}

/**
 * curl writes to standard output for the name `-`.
 *
 * @param {string} name
 */
function savePath(name) {
  const base = saveName(name);
  return base.startsWith("-") ? `./${base}` : base;
}

/**
 * Quotes a text as one word of a shell command.
 *
 * @param {string} text
 */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
