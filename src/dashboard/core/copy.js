import { h } from "./dom.js";
import { icon } from "./icon.js";
import { uniqueId } from "./unique_id.js";

/** How long the button shows success, in milliseconds. */
const FEEDBACK_TIME = 2000;

/**
 * A button that copies a text to the clipboard.
 *
 * @param {string | (() => string)} text
 * @param {{label?: string, hidden?: string}} [options] Its label, and additional text for screen readers.
 * @returns {HTMLButtonElement}
 */
export function copyButton(text, { label = "Copy", hidden = "" } = {}) {
  const status = h("span", { "aria-live": "polite" }, label);
  const more = hidden === "" ? null : h("span", { class: "visually-hidden" }, ` ${hidden}`);
  const button = h("button", { type: "button", class: "small" }, icon("copy"), status, more);
  button.addEventListener("click", async () => {
    const isDone = await copy(typeof text === "string" ? text : text(), button);
    status.textContent = isDone ? "Copied" : "Select it and press Ctrl+C";
    setTimeout(() => status.textContent = label, FEEDBACK_TIME);
  });
  return button;
}

/**
 * A read-only field with a text to select or copy.
 *
 * @param {string} label
 * @param {string} text
 * @returns {HTMLElement}
 */
export function copyField(label, text) {
  const id = uniqueId("copy");
  const field = h("input", { id, readonly: true, value: text, class: "code", spellcheck: "false" });
  field.addEventListener("focus", () => field.select());
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    h("div", { class: "copy-field" }, field, copyButton(text, { hidden: label.toLowerCase() })),
  );
}

/**
 * @param {string} text
 * @param {HTMLElement} near A visible element inside the open dialog, which traps the focus.
 * @returns {Promise<boolean>}
 */
async function copy(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Fallback for pages over http, where browsers have no clipboard API.
    return copyBySelection(text, near);
  }
}

/** @param {string} text @param {HTMLElement} near */
function copyBySelection(text, near) {
  const area = h("textarea", { class: "visually-hidden", "aria-hidden": "true", tabindex: "-1" });
  area.value = text;
  near.after(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  near.focus();
  return isDone;
}
