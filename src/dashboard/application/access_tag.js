import { h } from "../core/dom.js";

/**
 * A tag that says who has access to an application.
 *
 * @param {{enabled: boolean}} access
 * @returns {HTMLElement}
 */
export function accessTag({ enabled }) {
  return enabled
    ? h("span", { class: "tag tag-good" }, "owner and keys")
    : h("span", { class: "tag tag-warning" }, "everyone");
}
