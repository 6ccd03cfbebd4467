import { h } from "../core/dom.js";
import { links } from "../core/links.js";
import { ancestors, displayName } from "./names.js";

/**
 * The path from the project's drives to a folder.
 *
 * @param {string} project
 * @param {string} drive
 * @param {string} folder
 * @returns {HTMLElement}
 */
export function createBreadcrumb(project, drive, folder) {
  const folders = ["", ...ancestors(folder)];
  const items = folders.map((path, index) => {
    const text = path === "" ? drive : displayName(path, folders[index - 1] ?? "");
    return index === folders.length - 1
      ? h("li", {}, h("span", { "aria-current": "page" }, h("bdi", {}, text)))
      : h("li", {}, h("a", { href: links.files(project, drive, path) }, h("bdi", {}, text)));
  });
  return h(
    "nav",
    { class: "breadcrumb", "aria-label": "Folders" },
    h("ol", {}, h("li", {}, h("a", { href: links.drives(project) }, "Drives")), items),
  );
}
