import { h } from "./dom.js";
import { icon } from "./icon.js";

/** How long a success notice stays, in milliseconds. */
const NOTICE_TIME = 6000;

/** @typedef {ReturnType<typeof createNotices>} Notices */

/** Notices at the edge of the page, announced by screen readers. */
export function createNotices() {
  const good = h("div", { role: "status", "aria-live": "polite" });
  const bad = h("div", { role: "alert" });
  return {
    element: h("div", { class: "notices" }, good, bad),
    /** Reports success. The notice disappears by itself. @param {string} sentence */
    say(sentence) {
      const notice = show(good, sentence, "notice");
      setTimeout(() => notice.remove(), NOTICE_TIME);
    },
    /** Reports a failure. The notice stays until it is closed. @param {unknown} error A sentence, or an error with one. */
    fail(error) {
      if (isAbort(error)) return;
      show(bad, sentenceOf(error), "notice notice-bad");
    },
    /** Removes all notices. */
    clear() {
      good.replaceChildren();
      bad.replaceChildren();
    },
  };
}

/** The sentence of an error. @param {unknown} error @returns {string} */
export function sentenceOf(error) {
  if (typeof error === "string") return error;
  return error instanceof Error ? error.message : String(error);
}

/** Whether the user cancelled or left the view. @param {unknown} error @returns {boolean} */
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
