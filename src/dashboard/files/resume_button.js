import { h } from "../core/dom.js";
import { formatCount, formatTime } from "../core/format.js";

/** @import { ResumeRecord } from "./resume_records.js" */
/** @import { UploadList } from "./upload_list.js" */

/**
 * A button to choose the file of an interrupted upload again and resume it.
 *
 * @param {ResumeRecord} record
 * @param {UploadList} list
 * @param {(sentence: string) => void} onMismatch called with the reason if the chosen file is another one
 * @returns {HTMLElement}
 */
export function createResumeButton(record, list, onMismatch) {
  const input = h("input", { type: "file", hidden: true });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = "";
    if (file === undefined) return;
    const problem = fileMismatch(file, record);
    if (problem !== undefined) return onMismatch(problem);
    const { project, drive, name } = record;
    list.add([{ place: { project, drive, name }, file }]);
  });
  const button = h(
    "button",
    { type: "button", class: "small", on: { click: () => input.click() } },
    "Choose the file again to resume",
    h("span", { class: "visually-hidden" }, ` with ${record.name}`),
  );
  return h("span", {}, button, input);
}

/**
 * The reason why a file is not that of an interrupted upload; `undefined` if it is.
 *
 * @param {Pick<File, "name" | "size" | "lastModified">} file
 * @param {Pick<ResumeRecord, "name" | "size" | "lastModified">} record
 * @returns {string | undefined}
 */
export function fileMismatch(file, record) {
  if (file.size !== record.size) {
    return `“${file.name}” has ${
      formatCount(file.size)
    } bytes, but the upload of “${record.name}” ` +
      `is of a file with ${formatCount(record.size)}: choose that one`;
  }
  if (file.lastModified !== record.lastModified) {
    return `“${file.name}” was changed on ${formatTime(file.lastModified)}, but the upload of ` +
      `“${record.name}” is of a file from ${formatTime(record.lastModified)}: choose that one, ` +
      "or upload this one from the beginning";
  }
  return undefined;
}
