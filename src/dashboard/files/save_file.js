import { h } from "../core/dom.js";
import { DOWNLOAD_IN_MEMORY } from "./limits.js";
import { saveName } from "./names.js";
import { receivedBlob, receivedBytes } from "./received_bytes.js";

/** @import { Api } from "../core/api.js" */
/** @import { Place } from "./upload_task.js" */

/**
 * Where some browsers let a page write a file; the compiler does not know it yet.
 *
 * @typedef {(options: {suggestedName: string}) => Promise<FileSystemFileHandle>} Picker
 */

/** How long a browser may take to begin saving, in milliseconds. */
const BEGIN = 60_000;

/**
 * Saves a file under its own name. A large one goes to the disk while it comes, where the browser can do that.
 *
 * @param {Pick<Api, "download">} api
 * @param {Place} place
 * @param {number} size bytes
 * @param {{signal: AbortSignal, onProgress: (bytes: number) => void}} options
 * @returns {Promise<void>}
 */
export async function saveFile(api, place, size, options) {
  const pick = size > DOWNLOAD_IN_MEMORY ? picker() : undefined;
  if (pick !== undefined) {
    const handle = await pick({ suggestedName: saveName(place.name) });
    return await saveTo(handle, receivedBytes(api, place, options));
  }
  // Whatever it is, it is saved and not opened.
  const blob = await receivedBlob(api, place, "application/octet-stream", options);
  saveBlob(blob, saveName(place.name));
}

/** @returns {Picker | undefined} */
function picker() {
  /** @type {{showSaveFilePicker?: Picker}} */
  const { showSaveFilePicker } = /** @type {object} */ (globalThis);
  return showSaveFilePicker?.bind(globalThis);
}

/**
 * @param {FileSystemFileHandle} handle
 * @param {AsyncIterable<Uint8Array<ArrayBuffer>>} pieces
 */
async function saveTo(handle, pieces) {
  const file = await handle.createWritable();
  try {
    for await (const piece of pieces) await file.write(piece);
    await file.close();
  } catch (error) {
    // What has come is taken back: half a file looks like a whole one.
    await file.abort().catch(() => {});
    throw error;
  }
}

/** @param {Blob} blob @param {string} name */
function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), BEGIN);
}
