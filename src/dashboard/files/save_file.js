import { h } from "../core/dom.js";
import { DOWNLOAD_IN_MEMORY } from "./limits.js";
import { saveName } from "./names.js";
import { receivedBlob, receivedBytes } from "./received_bytes.js";

/** @import { Api } from "../core/api.js" */
/** @import { Place } from "./upload_task.js" */

/**
 * The file system picker of some browsers, unknown to the compiler.
 *
 * @typedef {(options: {suggestedName: string}) => Promise<FileSystemFileHandle>} Picker
 */

/** Time for the browser to begin saving, in milliseconds. */
const SAVE_TIME = 60_000;

/**
 * Saves a file under its own name. Large files are streamed to the disk if the browser can do that.
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
  // A neutral type, so that the browser saves it and does not open it.
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
    // Remove the incomplete file, which would look complete.
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
  setTimeout(() => URL.revokeObjectURL(address), SAVE_TIME);
}
