import { h } from "../core/dom.js";

/** @import { OpenView } from "../core/types.d.ts" */

/** @type {OpenView} */
export function open() {
  return { title: "kvdrive", element: h("div", { class: "view" }, h("h1", {}, "kvdrive")) };
}
