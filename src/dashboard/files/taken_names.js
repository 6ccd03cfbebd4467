import { eachOf } from "./limiter.js";
import { LOOKUPS_AT_ONCE, PAGE } from "./limits.js";
import { withRetries } from "./retry.js";

/** @import { Api } from "../core/api.js" */

/**
 * Which of the names a drive already has.
 *
 * @param {Pick<Api, "listFiles">} api
 * @param {{project: string, drive: string}} place
 * @param {readonly string[]} names
 * @param {object} options
 * @param {AbortSignal} options.signal
 * @param {(looked: number) => void} [options.onProgress]
 * @returns {Promise<Set<string>>}
 */
export async function takenNames(api, { project, drive }, names, { signal, onProgress }) {
  const list = (/** @type {string} */ prefix, /** @type {number} */ limit) =>
    withRetries(
      () => api.listFiles(project, drive, { prefix, limit, recursive: true, signal }),
      { signal },
    );
  const prefix = commonPrefix(names);
  const page = await list(prefix, PAGE);
  const found = new Set(page.names);
  // Usually all names below the common folder fit into one page.
  if (page.paging === undefined) return new Set(names.filter((name) => found.has(name)));
  const taken = new Set();
  let looked = 0;
  await eachOf(names, LOOKUPS_AT_ONCE, async (name) => {
    // The name itself sorts first among names with that prefix.
    const { names: [first] } = await list(name, 1);
    if (first === name) taken.add(name);
    onProgress?.(++looked);
  });
  return taken;
}

/**
 * The common prefix of all names, not splitting a character.
 *
 * @param {readonly string[]} names
 */
export function commonPrefix(names) {
  const [first = "", ...others] = names;
  let length = first.length;
  for (const name of others) {
    while (length > 0 && !name.startsWith(first.slice(0, length))) length--;
  }
  return first.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}
