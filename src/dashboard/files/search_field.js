import { h } from "../core/dom.js";
import { uniqueId } from "../core/unique_id.js";

/** Typing pause before a search starts, in milliseconds. */
const TYPING_PAUSE = 250;

/**
 * A search: a prefix of names in the folder, or of paths in the whole drive.
 *
 * @typedef {{text: string, isWholeDrive: boolean}} Search
 */

/**
 * @param {(search: Search) => void} onSearch
 * @returns {HTMLElement}
 */
export function createSearchField(onSearch) {
  const id = uniqueId("search");
  const input = h("input", {
    id,
    type: "search",
    placeholder: "Name begins with…",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  const scope = h(
    "select",
    { "aria-label": "Where to search" },
    h("option", { value: "folder" }, "In this folder"),
    h("option", { value: "drive" }, "In the whole drive"),
  );
  /** @type {number | undefined} */
  let timer;
  const search = () => {
    clearTimeout(timer);
    onSearch({ text: input.value, isWholeDrive: scope.value === "drive" });
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, TYPING_PAUSE);
  });
  input.addEventListener("keydown", (event) => event.key === "Enter" && search());
  scope.addEventListener("change", search);
  return h(
    "div",
    { class: "search", role: "search" },
    h("label", { for: id, class: "visually-hidden" }, "Search by the beginning of the name"),
    input,
    scope,
  );
}
