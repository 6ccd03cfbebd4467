import { h } from "../core/dom.js";
import { uniqueId } from "../core/unique_id.js";

/** @import { Child } from "../core/types.d.ts" */

/**
 * A dialog with several answers besides Cancel.
 *
 * @template {string} V
 * @param {object} options
 * @param {string} options.title
 * @param {Child} options.content
 * @param {readonly {value: V, label: string, isDangerous?: boolean}[]} options.choices
 * @returns {Promise<V | undefined>} `undefined` if it was canceled
 */
export function choose({ title, content, choices }) {
  const { promise, resolve } = Promise.withResolvers();
  const id = uniqueId("choice");
  /** @type {V | undefined} */
  let chosen;
  const dialog = h("dialog", { "aria-labelledby": id });
  const buttons = choices.map(({ value, label, isDangerous = false }) => {
    const button = h(
      "button",
      { type: "button", class: isDangerous ? "danger" : undefined },
      label,
    );
    button.addEventListener("click", () => {
      chosen = value;
      dialog.close();
    });
    return button;
  });
  const cancel = h("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel");
  dialog.append(
    h("h2", { id }, title),
    h(
      "div",
      { class: "stack" },
      h("div", { class: "dialog-text" }, content),
      h("div", { class: "actions" }, cancel, buttons),
    ),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    resolve(chosen);
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}
