import { eachOf } from "./limiter.js";
import { REQUESTS_AT_ONCE } from "./limits.js";
import { missingParts, planParts } from "./part_plan.js";

/**
 * Sends the missing parts of a file, several at once.
 *
 * @param {Blob} file
 * @param {object} upload
 * @param {number} upload.partSize bytes
 * @param {readonly {part: number, size: number}[]} upload.received parts on the server
 * @param {object} actions
 * @param {(part: number, body: Blob, onProgress: (bytes: number) => void) => Promise<unknown>} actions.send
 * @param {(bytes: number) => void} actions.onCount called with the bytes sent or being sent
 * @returns {Promise<void>}
 * @throws the first error of a part, after the running parts have finished.
 */
export async function sendParts(file, { partSize, received }, { send, onCount }) {
  const plan = planParts(file.size, partSize);
  const missing = missingParts(plan, received);
  /** @type {Map<number, number>} bytes of each part */
  const sent = new Map(plan.map(({ part, start, end }) => [part, end - start]));
  let sum = file.size;
  const count = (/** @type {number} */ part, /** @type {number} */ bytes) => {
    sum += bytes - (sent.get(part) ?? 0);
    sent.set(part, bytes);
  };
  for (const { part } of missing) count(part, 0);
  onCount(sum);
  await eachOf(missing, REQUESTS_AT_ONCE, async ({ part, start, end }) => {
    const report = (/** @type {number} */ bytes) => {
      // Count the body only, and at most its size.
      count(part, Math.min(bytes, end - start));
      onCount(sum);
    };
    try {
      await send(part, file.slice(start, end), report);
      report(end - start);
    } catch (error) {
      report(0);
      throw error;
    }
  });
}
