import { h } from "./dom.js";
import { sentenceOf } from "./notices.js";
import { uniqueId } from "./unique_id.js";

/** @import { Child } from "./types.d.ts" */

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
 * Asks before something is done that cannot be taken back.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {Child} options.text What will happen.
 * @param {string} options.action What the button says.
 * @param {string} [options.typed] What has to be typed in first.
 * @param {(() => Promise<unknown>)} [options.run] Does it, while the dialog waits; what it throws is said there.
 * @returns {Promise<boolean>} Whether it is to be done, or with `run`: whether it is done.
 */
export async function confirm({ title, text, action, typed, run }) {
  const fields = typed === undefined
    ? []
    : [{ name: "typed", label: `Type “${typed}” to confirm`, required: true }];
  const done = await form({
    title,
    text,
    fields,
    action,
    isDangerous: true,
    allows: (values) => typed === undefined || values["typed"] === typed,
    submit: async () => {
      await run?.();
      return true;
    },
  });
  return done === true;
}

/**
 * A dialog with fields. It stays open, and says why, while what it asks for is refused.
 *
 * @template T
 * @param {object} options
 * @param {string} options.title
 * @param {Child} [options.text]
 * @param {Field[]} options.fields
 * @param {string} options.action What the button says.
 * @param {boolean} [options.isDangerous]
 * @param {(values: Record<string, string>) => boolean} [options.allows] Whether the button may be pressed.
 * @param {(values: Record<string, string>) => Promise<T>} options.submit
 * @returns {Promise<T | undefined>} Nothing where it was cancelled.
 */
export function form({ title, text, fields, action, isDangerous = false, allows, submit }) {
  const { promise, resolve } = Promise.withResolvers();
  const problem = h("p", { class: "problem", role: "alert" });
  const inputs = fields.map(inputOf);
  const button = h("button", { class: isDangerous ? "danger" : "primary" }, action);
  const body = h(
    "form",
    { class: "stack", novalidate: true },
    text === undefined ? null : h("div", { class: "dialog-text" }, text),
    inputs.map(({ row }) => row),
    problem,
    h("div", { class: "actions" }, cancelButton(), button),
  );
  /** @type {T | undefined} */
  let result;
  const dialog = open(title, body, () => resolve(result));
  const values = () =>
    Object.fromEntries(inputs.map(({ field, input }) => [field.name, input.value]));
  const judge = () => button.disabled = allows !== undefined && !allows(values());
  body.addEventListener("input", judge);
  judge();
  body.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = inputs.find(({ field, input }) => field.required && input.value === "");
    if (missing !== undefined) {
      problem.textContent = `Fill in “${missing.field.label}”`;
      return missing.input.focus();
    }
    problem.textContent = "";
    button.disabled = true;
    try {
      result = await submit(values());
      dialog.close();
    } catch (error) {
      problem.textContent = sentenceOf(error);
      judge();
    }
  });
  return promise;
}

/**
 * A dialog that shows something, until it is closed.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {Child} options.content
 * @param {string} [options.action] What the button says.
 * @param {string} [options.className]
 * @returns {Promise<void>}
 */
export function show({ title, content, action = "Close", className = "" }) {
  const { promise, resolve } = Promise.withResolvers();
  const body = h(
    "form",
    { class: "stack" },
    content,
    h("div", { class: "actions" }, h("button", { class: "primary" }, action)),
  );
  const dialog = open(title, body, () => resolve(undefined), className);
  body.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
  });
  return promise;
}

/** @param {string} title @param {HTMLElement} body @param {() => void} onClose @param {string} [className] */
function open(title, body, onClose, className = "") {
  const id = uniqueId("dialog");
  const dialog = h(
    "dialog",
    { class: className, "aria-labelledby": id },
    h("h2", { id }, title),
    body,
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function cancelButton() {
  const button = h("button", { type: "button" }, "Cancel");
  button.addEventListener("click", () => button.closest("dialog")?.close());
  return button;
}

/** @param {Field} field */
function inputOf(field) {
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
