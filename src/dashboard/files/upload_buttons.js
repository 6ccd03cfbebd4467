import { h } from "../core/dom.js";
import { icon } from "../core/icon.js";
import { chosenFiles } from "./dropped_files.js";

/** @import { ChosenFile } from "./dropped_files.js" */

/**
 * Two buttons: choose files, or a folder.
 *
 * @param {(chosen: ChosenFile[]) => void} onChosen
 * @param {{isPrimary?: boolean}} [options]
 * @returns {HTMLElement}
 */
export function createUploadButtons(onChosen, { isPrimary = true } = {}) {
  const files = chooser({ multiple: true }, onChosen);
  const folder = chooser({ webkitdirectory: true }, onChosen);
  const kind = isPrimary ? "primary" : undefined;
  return h(
    "div",
    { class: "upload-buttons" },
    h(
      "button",
      { type: "button", class: kind, on: { click: () => files.click() } },
      icon("upload"),
      "Upload files",
    ),
    h(
      "button",
      { type: "button", on: { click: () => folder.click() } },
      icon("folder"),
      "Upload a folder",
    ),
    files,
    folder,
  );
}

/**
 * @param {{multiple?: boolean, webkitdirectory?: boolean}} attributes
 * @param {(chosen: ChosenFile[]) => void} onChosen
 */
function chooser(attributes, onChosen) {
  // The visible button has the label and the focus.
  const input = h("input", { type: "file", hidden: true, ...attributes });
  input.addEventListener("change", () => {
    const chosen = chosenFiles(input.files ?? []);
    // The same file can be chosen again.
    input.value = "";
    if (chosen.length > 0) onChosen(chosen);
  });
  return input;
}
