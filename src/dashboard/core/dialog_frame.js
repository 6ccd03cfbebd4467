import { h } from "./dom.js";
import { uniqueId } from "./unique_id.js";

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {string} [hint]
 * @property {string} [value]
 * @property {boolean} [required]
 * @property {number} [maxlength]
 */

/**
 * Opens a modal dialog. It traps the focus and restores it when it closes.
 *
 * @param {string} title
 * @param {HTMLElement} body
 * @param {object} options
 * @param {() => void} options.onClose
 * @param {() => boolean} [options.mayCancel] Whether the Escape key may close it.
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, body, { onClose, mayCancel = () => true }) {
  const id = uniqueId("dialog");
  const dialog = h("dialog", { "aria-labelledby": id }, h("h2", { id }, title), body);
  dialog.addEventListener("cancel", (event) => {
    if (!mayCancel()) event.preventDefault();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** @returns {HTMLButtonElement} A button that closes the dialog around it. */
export function cancelButton() {
  const button = h("button", { type: "button" }, "Cancel");
  button.addEventListener("click", () => button.closest("dialog")?.close());
  return button;
}

/**
 * A field with its label.
 *
 * @param {Field} field
 * @returns {{field: Field, input: HTMLInputElement, row: HTMLElement}}
 */
export function inputOf(field) {
  const id = uniqueId(field.name);
  const hint = field.hint === undefined
    ? null
    : h("p", { class: "hint", id: `${id}-hint` }, field.hint);
  const input = h("input", {
    id,
    name: field.name,
    value: field.value ?? "",
    required: field.required,
    maxlength: field.maxlength,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": hint?.id,
  });
  const label = h("label", { for: id }, field.label, field.required ? null : " (optional)");
  return { field, input, row: h("div", { class: "field" }, label, input, hint) };
}
