import { cancelButton, inputOf, openDialog } from "./dialog_frame.js";
import { h } from "./dom.js";
import { sentenceOf } from "./notices.js";

/** @import { Child } from "./types.d.ts" */
/** @typedef {import("./dialog_frame.js").Field} Field */

/**
 * Asks for confirmation of an action that cannot be undone.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {Child} options.text What will happen.
 * @param {string} options.action Label of the button.
 * @param {string} [options.typed] Text that must be typed in first.
 * @param {(() => Promise<unknown>)} [options.run] The action, run while the dialog is open; the dialog shows its errors.
 * @returns {Promise<boolean>} Whether it was confirmed; with `run`, whether it is done.
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
    isValid: (values) => typed === undefined || values["typed"] === typed,
    submit: async () => {
      await run?.();
      return true;
    },
  });
  return done === true;
}

/**
 * A dialog with fields. It stays open and shows the reason if the submission is refused.
 *
 * @template T
 * @param {object} options
 * @param {string} options.title
 * @param {Child} [options.text]
 * @param {Field[]} options.fields
 * @param {string} options.action Label of the button.
 * @param {boolean} [options.isDangerous]
 * @param {(values: Record<string, string>) => boolean} [options.isValid] Whether the button is enabled.
 * @param {(values: Record<string, string>) => Promise<T>} options.submit
 * @returns {Promise<T | undefined>} `undefined` if it was cancelled.
 */
export function form({ title, text, fields, action, isDangerous, isValid = () => true, submit }) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const { body, button, values, showProblem, reportMissing } = formBody({
    text,
    fields,
    action,
    isDangerous,
  });
  let isBusy = false;
  const updateButton = () => button.disabled = isBusy || !isValid(values());
  // A running request is waited for: a key that it creates must be shown.
  const onClose = () => isBusy || resolve(undefined);
  const dialog = openDialog(title, body, { onClose, mayCancel: () => !isBusy });
  body.addEventListener("input", updateButton);
  body.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy || reportMissing()) return;
    isBusy = true;
    showProblem("");
    updateButton();
    try {
      resolve(await submit(values()));
      dialog.close();
    } catch (error) {
      if (!dialog.open) return reject(error);
      showProblem(sentenceOf(error));
    } finally {
      isBusy = false;
      updateButton();
    }
  });
  updateButton();
  return promise;
}

/**
 * A dialog for a value that is shown once. It closes only with its button.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {Child} options.content
 * @param {string} options.action Label of the button.
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
    showProblem: (sentence) => problem.textContent = sentence,
    /** Names the first required field that is empty, if any. */
    reportMissing() {
      const first = inputs.find(({ field, input }) => field.required && input.value === "");
      if (first === undefined) return false;
      problem.textContent = `Fill in “${first.field.label}”`;
      first.input.focus();
      return true;
    },
  };
}
