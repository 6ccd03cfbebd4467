import { h } from "./dom.js";
import { icon } from "./icon.js";

/** How long a notice stays that asks nothing of anybody, in milliseconds. */
const STAY = 6000;

/** @typedef {ReturnType<typeof createNotices>} Notices */

/** Short sentences at the edge of the page, which screen readers say. */
export function createNotices() {
  const good = h("div", { role: "status", "aria-live": "polite" });
  const bad = h("div", { role: "alert" });
  return {
    element: h("div", { class: "notices" }, good, bad),
    /** Something was done. It goes by itself. @param {string} sentence */
    say(sentence) {
      const notice = show(good, sentence, "notice");
      setTimeout(() => notice.remove(), STAY);
    },
    /** Something failed. It stays until it is closed. @param {unknown} error A sentence, or an error with one. */
    fail(error) {
      if (isAbort(error)) return;
      show(bad, sentenceOf(error), "notice notice-bad");
    },
    /** Takes all of them away. */
    clear() {
      good.replaceChildren();
      bad.replaceChildren();
    },
  };
}

/** What an error tells a person. @param {unknown} error @returns {string} */
export function sentenceOf(error) {
  if (typeof error === "string") return error;
  return error instanceof Error ? error.message : String(error);
}

/** Whether it is only that the person has left or cancelled. @param {unknown} error @returns {boolean} */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @param {HTMLElement} region @param {string} sentence @param {string} className */
function show(region, sentence, className) {
  const close = h(
    "button",
    { type: "button", class: "plain", "aria-label": "Close" },
    icon("close"),
  );
  const notice = h("div", { class: className }, h("p", {}, sentence), close);
  close.addEventListener("click", () => notice.remove());
  region.append(notice);
  return notice;
}
