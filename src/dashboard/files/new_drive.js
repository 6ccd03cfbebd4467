import { h } from "../core/dom.js";
import { links } from "../core/links.js";
import { uniqueId } from "../core/unique_id.js";
import { acceptDrops } from "./drop_target.js";
import { driveNameProblem } from "./drive_name.js";
import { createUploadButtons } from "./upload_buttons.js";
import { uploadTo } from "./upload_to.js";

/** @import { Context } from "../core/types.d.ts" */
/** @import { ChosenFile } from "./dropped_files.js" */

/**
 * The form for a new drive: a name and its first files. Empty drives do not exist.
 *
 * @param {Context} context
 * @param {string} project
 * @returns {HTMLElement}
 */
export function createNewDrive(context, project) {
  const { field, input, problem } = createNameField();
  const status = h("p", { class: "hint", role: "status" });
  const showStatus = (/** @type {string} */ sentence) => status.textContent = sentence;
  const upload = async (/** @type {ChosenFile[]} */ chosen) => {
    const drive = input.value;
    problem.textContent = driveNameProblem(drive) ?? "";
    if (problem.textContent !== "") return input.focus();
    try {
      const started = await uploadTo(context, { project, drive, folder: "" }, chosen, showStatus);
      if (started > 0) context.go(links.files(project, drive));
    } catch (error) {
      context.notices.fail(error);
    }
  };
  const element = h(
    "section",
    { class: "panel drop-panel" },
    h("h2", {}, "New drive"),
    field,
    problem,
    createUploadButtons(upload),
    status,
  );
  const { signal, notices } = context;
  acceptDrops(element, { signal, showStatus, onDrop: upload, onProblem: notices.fail });
  return element;
}

function createNameField() {
  const id = uniqueId("drive");
  const problem = h("p", { class: "problem", role: "alert", id: `${id}-problem` });
  const input = h("input", {
    id,
    maxlength: 128,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": `${id}-hint ${id}-problem`,
  });
  input.addEventListener("input", () => problem.textContent = "");
  const label = h("label", { for: id }, "Name of the drive");
  const hint = h("p", { class: "hint", id: `${id}-hint` }, HINT);
  return { field: h("div", { class: "field" }, label, input, hint), input, problem };
}

const HINT = "Choose a name, then upload files, or drop files and folders here: the first file " +
  "creates the drive.";
