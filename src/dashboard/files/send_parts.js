import { eachOf } from "./limiter.js";
import { REQUESTS_AT_ONCE } from "./limits.js";
import { missingParts, planParts } from "./part_plan.js";

/**
 * Sends the parts of a file that the server lacks, several at once.
 *
 * @param {Blob} file
 * @param {object} upload
 * @param {number} upload.partSize bytes
 * @param {readonly {part: number, size: number}[]} upload.received what the server has
 * @param {object} means
 * @param {(part: number, body: Blob, onProgress: (bytes: number) => void) => Promise<unknown>} means.send
 * @param {(bytes: number) => void} means.onCount told how many bytes the server has or are on their way
 * @returns {Promise<void>}
 * @throws the first error of a part; the parts that are on their way then come to their end before.
 */
export async function sendParts(file, { partSize, received }, { send, onCount }) {
  const plan = planParts(file.size, partSize);
  const missing = missingParts(plan, received);
  /** @type {Map<number, number>} bytes of each part */
  const gone = new Map(plan.map(({ part, start, end }) => [part, end - start]));
  let sum = file.size;
  const count = (/** @type {number} */ part, /** @type {number} */ bytes) => {
    sum += bytes - (gone.get(part) ?? 0);
    gone.set(part, bytes);
  };
  for (const { part } of missing) count(part, 0);
  onCount(sum);
  await eachOf(missing, REQUESTS_AT_ONCE, async ({ part, start, end }) => {
    const tell = (/** @type {number} */ bytes) => {
      // The head of the request is counted by nobody, the body never beyond its end.
      count(part, Math.min(bytes, end - start));
      onCount(sum);
    };
    try {
      await send(part, file.slice(start, end), tell);
      tell(end - start);
    } catch (error) {
      tell(0);
      throw error;
    }
  });
}
