import { cancelButton, inputOf, openDialog } from "./dialog_frame.js";
import { h } from "./dom.js";
import { sentenceOf } from "./notices.js";

/** @import { Child } from "./types.d.ts" */
/** @typedef {import("./dialog_frame.js").Field} Field */

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
export function form({ title, text, fields, action, isDangerous, allows = () => true, submit }) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const { body, button, values, complain, missing } = formBody({
    text,
    fields,
    action,
    isDangerous,
  });
  let isBusy = false;
  const judge = () => button.disabled = isBusy || !allows(values());
  // What is on its way is waited for: a key that was made is to be seen.
  const onClose = () => isBusy || resolve(undefined);
  const dialog = openDialog(title, body, { onClose, mayCancel: () => !isBusy });
  body.addEventListener("input", judge);
  body.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy || missing()) return;
    isBusy = true;
    complain("");
    judge();
    try {
      resolve(await submit(values()));
      dialog.close();
    } catch (error) {
      if (!dialog.open) return reject(error);
      complain(sentenceOf(error));
    } finally {
      isBusy = false;
      judge();
    }
  });
  judge();
  return promise;
}

/**
 * A dialog that shows something that is not seen again, until its button is pressed.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {Child} options.content
 * @param {string} options.action What the button says.
 * @returns {Promise<void>}
 */
export function show({ title, content, action }) {
  const { promise, resolve } = Promise.withResolvers();
  const body = h(
    "form",
    { class: "stack" },
    content,
    h("div", { class: "actions" }, h("button", { class: "primary" }, action)),
  );
  const onClose = () => resolve(undefined);
  const dialog = openDialog(title, body, { onClose, mayCancel: () => false });
  dialog.setAttribute("closedby", "none");
  body.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
  });
  return promise;
}

/**
 * @param {{text: Child, fields: Field[], action: string, isDangerous: boolean | undefined}} options
 */
function formBody({ text, fields, action, isDangerous = false }) {
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
  return {
    body,
    button,
    /** @returns {Record<string, string>} */
    values: () => Object.fromEntries(inputs.map(({ field, input }) => [field.name, input.value])),
    /** @param {string} sentence */
    complain: (sentence) => problem.textContent = sentence,
    /** Says which field is to be filled in, if one is. */
    missing() {
      const first = inputs.find(({ field, input }) => field.required && input.value === "");
      if (first === undefined) return false;
      problem.textContent = `Fill in “${first.field.label}”`;
      first.input.focus();
      return true;
    },
  };
}
