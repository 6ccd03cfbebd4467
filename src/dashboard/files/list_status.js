import { formatCount, formatNumber } from "../core/format.js";
import { MAX_ROWS } from "./limits.js";

/** @import { Listing } from "./listing.js" */

/**
 * The status line of a list.
 *
 * @param {Listing} listing
 * @returns {string}
 */
export function listStatus({ loaded, isComplete, isTruncated, isLoading, problem, pendingOrder }) {
  if (problem !== "") return `The list is not complete. ${problem}`;
  const count = formatNumber(loaded, "entry", "entries");
  if (pendingOrder !== undefined) return `Loading the rest to sort it: ${count} so far…`;
  if (isTruncated) {
    return `The first ${
      formatCount(MAX_ROWS)
    } entries, the most that a list shows: search for the others`;
  }
  if (isComplete) return loaded === 0 ? "" : count;
  if (loaded === 0) return isLoading ? "Loading…" : "";
  return `The first ${count}; more come as you scroll`;
}
