import { h } from "./dom.js";
import { formatBytes, formatShare } from "./format.js";

/** @import { Disk, Project } from "./types.d.ts" */

/**
 * A bar of bytes, with their share of the disk, or of all listed bytes if its size is unknown.
 *
 * @param {number} bytes
 * @param {Disk | undefined} disk
 * @param {number} all Bytes of the longest bar.
 * @returns {HTMLElement}
 */
export function usageBar(bytes, disk, all) {
  const total = disk?.total ?? null;
  const share = total === null
    ? `${formatShare(bytes, all)} of all stored bytes`
    : `${formatShare(bytes, total)} of the disk`;
  return h(
    "div",
    { class: "usage" },
    bar(bytes, total ?? all),
    h("span", { class: "usage-text" }, share),
  );
}

/** Share of a limit at which a warning is shown. */
const NEAR = 0.9;

/**
 * The use of a project's limit, as a bar, a percentage and a word.
 *
 * @param {Pick<Project, "bytes" | "open_upload_bytes" | "max_bytes">} project
 * @returns {HTMLElement | null} `null` without a limit.
 */
export function limitBar({ bytes: stored, open_upload_bytes, max_bytes }) {
  if (max_bytes === null) return null;
  const bytes = stored + open_upload_bytes;
  const state = bytes >= max_bytes ? "full" : bytes >= NEAR * max_bytes ? "near" : undefined;
  const share = `${formatShare(bytes, max_bytes)} of ${formatBytes(max_bytes)}`;
  return h(
    "div",
    { class: "usage", "data-state": state },
    bar(bytes, max_bytes),
    h("span", { class: "usage-text" }, share, state === undefined ? null : `: ${STATES[state]}`),
  );
}

const STATES = {
  near: "nearly full",
  full: "full, nothing can be added",
};

/**
 * Size and free space of the disk.
 *
 * @param {Disk} disk
 * @returns {HTMLElement | null} `null` if unknown.
 */
export function diskBar({ total, free }) {
  if (total === null || free === null) return null;
  const text = `${formatBytes(total - free)} of ${formatBytes(total)} used, ${
    formatBytes(free)
  } free`;
  return h(
    "div",
    { class: "usage disk" },
    h("span", { class: "usage-title" }, "Disk of the server"),
    bar(total - free, total),
    h("span", { class: "usage-text" }, text),
  );
}

/** The bar itself; the numbers beside it have the same information. @param {number} part @param {number} whole */
function bar(part, whole) {
  const share = whole <= 0 ? 0 : Math.min(100, part / whole * 100);
  const style = { "--share": `${share.toFixed(3)}%`, "--least": part > 0 ? "3px" : "0" };
  return h("span", { class: "bar", "aria-hidden": "true", style });
}
