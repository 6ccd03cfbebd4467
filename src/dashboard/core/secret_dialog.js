import { copyField } from "./copy.js";
import { show } from "./dialog.js";
import { h } from "./dom.js";
import { icon } from "./icon.js";

/**
 * Shows a new secret with a copy button.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {string} options.label What it is.
 * @param {string} options.secret
 * @param {string} options.lost What to do if it is lost.
 * @returns {Promise<void>}
 */
export function showSecret({ title, label, secret, lost }) {
  const warning = h(
    "p",
    { class: "warning" },
    icon("warning"),
    h("span", {}, `This is shown once. Copy it now and store it like a password. ${lost}`),
  );
  return show({ title, content: [warning, copyField(label, secret)], action: "I have copied it" });
}
