import { h } from "../core/dom.js";

/**
 * Who is let in to an application, in two words.
 *
 * @param {{enabled: boolean}} access
 * @returns {HTMLElement}
 */
export function accessTag({ enabled }) {
  return enabled
    ? h("span", { class: "tag tag-good" }, "owner and keys")
    : h("span", { class: "tag tag-warning" }, "everyone");
}
