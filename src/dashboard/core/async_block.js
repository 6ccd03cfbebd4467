import { fill, h } from "./dom.js";
import { isAbort, sentenceOf } from "./notices.js";

/** @import { Child } from "./types.d.ts" */

/**
 * A part of a view that loads its content from the server. On failure it shows the reason and a retry button.
 *
 * @param {() => Promise<Child>} load
 * @returns {{element: HTMLElement, reload: () => Promise<void>}}
 */
export function asyncBlock(load) {
  const element = h(
    "div",
    { "aria-busy": "true", tabindex: "-1" },
    h("p", { class: "loading" }, "Loading…"),
  );
  const reload = async () => {
    element.setAttribute("aria-busy", "true");
    try {
      const content = await load();
      const isLost = document.activeElement === document.body && !element.querySelector(".loading");
      fill(element, content);
      // The focused button was removed: keep the focus in this block.
      if (isLost) element.focus({ preventScroll: true });
    } catch (error) {
      if (isAbort(error)) return;
      const again = h("button", { type: "button", on: { click: reload } }, "Try again");
      fill(
        element,
        h("div", { class: "failed", role: "alert" }, h("p", {}, sentenceOf(error)), again),
      );
    } finally {
      element.removeAttribute("aria-busy");
    }
  };
  reload();
  return { element, reload };
}
