import { saveName } from "./names.js";

/**
 * The line that downloads a file in a shell, with the key in the variable `KEY`.
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
 * To curl a lone dash is its standard output.
 *
 * @param {string} name
 */
function savePath(name) {
  const base = saveName(name);
  return base.startsWith("-") ? `./${base}` : base;
}

/**
 * A word as a shell takes it, whatever is in it.
 *
 * @param {string} text
 */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
