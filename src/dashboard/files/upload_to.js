import { formatCount, formatNumber } from "../core/format.js";
import { h } from "../core/dom.js";
import { choose } from "./choice_dialog.js";
import { takenNames } from "./taken_names.js";

/** @import { Context } from "../core/types.d.ts" */
/** @import { ChosenFile } from "./dropped_files.js" */

/** Number of existing names that the question lists. */
const SHOWN = 5;

/**
 * Uploads files into a folder. Asks once if files of the same names exist.
 *
 * @param {Pick<Context, "api" | "uploads" | "signal">} context
 * @param {{project: string, drive: string, folder: string}} target
 * @param {readonly ChosenFile[]} chosen
 * @param {(sentence: string) => void} showStatus shows the current step
 * @returns {Promise<number>} number of started uploads
 */
export async function uploadTo({ api, uploads, signal }, target, chosen, showStatus) {
  const { project, drive, folder } = target;
  const files = chosen.map(({ file, path }) => ({ file, name: folder + path }));
  if (files.length === 0) return 0;
  const names = files.map(({ name }) => name);
  try {
    showStatus("Looking for files of the same name…");
    const taken = await takenNames(api, { project, drive }, names, {
      signal,
      onProgress: (looked) =>
        showStatus(`Looking for files of the same name: ${looked} of ${names.length}`),
    });
    showStatus("");
    const answer = taken.size === 0 ? "all" : await confirmOverwrite(taken, names.length);
    if (answer === undefined) return 0;
    const started = files.filter(({ name }) => answer === "all" || !taken.has(name));
    uploads.list.add(started.map(({ file, name }) => ({ place: { project, drive, name }, file })));
    return started.length;
  } finally {
    showStatus("");
  }
}

/**
 * @param {ReadonlySet<string>} taken
 * @param {number} count of all files
 * @returns {Promise<"all" | "others" | undefined>}
 */
function confirmOverwrite(taken, count) {
  const names = [...taken];
  const more = names.length - SHOWN;
  const others = count - names.length;
  const exist = `${formatNumber(names.length, "file")} of ${
    names.length === 1 ? "that name exists" : "those names exist"
  } already. Overwriting cannot be undone.`;
  return choose({
    title: `Overwrite ${formatNumber(names.length, "file")}?`,
    content: [
      h("p", {}, exist),
      h("ul", { class: "names" }, names.slice(0, SHOWN).map((name) => h("li", {}, name))),
      more > 0 ? h("p", {}, `and ${formatCount(more)} more`) : null,
    ],
    choices: [
      ...(others === 0 ? [] : [
        /** @type {const} */ ({
          value: "others",
          label: `Upload the other ${formatNumber(others, "file")} only`,
        }),
      ]),
      { value: "all", label: `Overwrite ${formatNumber(names.length, "file")}`, isDangerous: true },
    ],
  });
}
