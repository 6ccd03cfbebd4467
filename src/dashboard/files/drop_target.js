import { droppedEntries, filesOf } from "./dropped_files.js";

/** @import { ChosenFile } from "./dropped_files.js" */

/**
 * Accepts files and folders dropped anywhere on the page; otherwise the browser would open them in its
 * place.
 *
 * @param {HTMLElement} target highlighted while files are dragged over the page
 * @param {object} options
 * @param {AbortSignal} options.signal
 * @param {(sentence: string) => void} options.showStatus
 * @param {(chosen: ChosenFile[]) => void} options.onDrop
 * @param {(error: unknown) => void} options.onProblem
 */
export function acceptDrops(target, { signal, showStatus, onDrop, onProblem }) {
  let depth = 0;
  const mark = () => target.classList.toggle("is-over", depth > 0);
  /** @param {DragEvent} event */
  const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files") ?? false;
  const listen = (
    /** @type {"dragenter" | "dragleave" | "dragover"} */ type,
    /** @type {number} */ step,
  ) =>
    document.addEventListener(type, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = Math.max(0, depth + step);
      mark();
    }, { signal });
  listen("dragenter", 1);
  listen("dragleave", -1);
  listen("dragover", 0);
  document.addEventListener("drop", async (event) => {
    if (!hasFiles(event) || event.dataTransfer === null) return;
    event.preventDefault();
    depth = 0;
    mark();
    // An open dialog hides the target.
    if (document.querySelector("dialog[open]") !== null) return;
    const entries = droppedEntries(event.dataTransfer);
    try {
      onDrop(
        await filesOf(entries, (count) => showStatus(`Reading the dropped files: ${count} so far`)),
      );
    } catch {
      onProblem("The dropped files cannot be read: choose them with the buttons");
    } finally {
      showStatus("");
    }
  }, { signal });
}
