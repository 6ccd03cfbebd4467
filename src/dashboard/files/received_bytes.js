/** @import { Api } from "../core/api.js" */
/** @import { Place } from "./upload_task.js" */

/**
 * Streams the content of a file.
 *
 * @param {Pick<Api, "download">} api
 * @param {Place} place
 * @param {object} options
 * @param {AbortSignal} options.signal
 * @param {string} [options.range] value of the header
 * @param {(bytes: number) => void} [options.onProgress]
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>}
 * @throws {Error} if the connection broke.
 */
export async function* receivedBytes(api, { project, drive, name }, options) {
  const { signal, range, onProgress } = options;
  const request = range === undefined ? { signal } : { signal, range };
  const response = await api.download(project, drive, name, request);
  const reader = response.body?.getReader();
  let received = 0;
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch((error) => {
      if (signal.aborted) throw error;
      throw new Error("The connection broke before the file was complete: try again");
    });
    if (done) return;
    received += value.byteLength;
    onProgress?.(received);
    yield value;
  }
}

/**
 * The content as one blob. Its type is given here, never the stored one: browsers would run a page.
 *
 * @param {Pick<Api, "download">} api
 * @param {Place} place
 * @param {string} type
 * @param {Parameters<typeof receivedBytes>[2]} options
 * @returns {Promise<Blob>}
 */
export async function receivedBlob(api, place, type, options) {
  const pieces = [];
  for await (const piece of receivedBytes(api, place, options)) pieces.push(piece);
  return new Blob(pieces, { type });
}
