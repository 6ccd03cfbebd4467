import { h } from "../core/dom.js";
import { formatBytes, formatTime } from "../core/format.js";
import { icon } from "../core/icon.js";
import { displayName } from "./names.js";
import { isFolder } from "./order.js";

/** @import { Entry } from "./order.js" */

/**
 * A row of a grid. Its content is not in the Tab order: the row itself has the focus, and keys for everything in
 * it. `handleKeys` handles clicks.
 *
 * @param {Entry} entry
 * @param {{folder: string, hrefOf: (entry: Entry) => string}} options
 */
export function createGridRow(entry, { folder, hrefOf }) {
  const text = displayName(entry.name, folder);
  const check = h("input", { type: "checkbox", tabindex: "-1", "aria-label": `Select ${text}` });
  const element = h(
    "div",
    { role: "row", class: "grid-row", "aria-selected": "false" },
    h("div", { role: "gridcell", class: "grid-check" }, check),
    h(
      "div",
      { role: "gridcell", class: "grid-name" },
      icon(isFolder(entry) ? "folder" : "file"),
      isFolder(entry) ? folderLink(text, hrefOf(entry)) : fileButton(text),
    ),
    cell("size", entry.size === undefined ? "" : formatBytes(entry.size)),
    cell("type", isFolder(entry) ? "Folder" : entry.content_type ?? ""),
    cell("modified", entry.modified === undefined ? "" : formatTime(entry.modified)),
  );
  /** @param {boolean} isSelected */
  const mark = (isSelected) => {
    check.checked = isSelected;
    element.setAttribute("aria-selected", String(isSelected));
  };
  return { entry, element, mark };
}

/** @param {string} text @param {string} href */
function folderLink(text, href) {
  return h("a", { href, tabindex: "-1", class: "grid-open", title: text }, h("bdi", {}, text));
}

/** @param {string} text */
function fileButton(text) {
  return h(
    "button",
    { type: "button", tabindex: "-1", class: "grid-open plain", title: text },
    h("bdi", {}, text),
  );
}

/** @param {string} name @param {string} text */
function cell(name, text) {
  return h("div", { role: "gridcell", class: `grid-${name}` }, text);
}
