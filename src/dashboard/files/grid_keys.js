import { isFolder } from "./order.js";

/** @import { FileGrid, GridOptions } from "./file_grid.js" */

/**
 * Keyboard and mouse of a grid: arrows, Page Up and Down, Home and End move; Enter opens; Space
 * selects, with Shift the whole range; Ctrl+A selects all loaded rows, Escape none; Delete deletes.
 *
 * @param {FileGrid} grid
 * @param {HTMLElement} body
 * @param {GridOptions} options
 */
export function handleKeys(grid, body, options) {
  body.addEventListener("keydown", (event) => {
    const isOnRow = event.target instanceof Element && event.target.matches(".grid-row");
    // A focused checkbox or button inside a row handles its own keys.
    if (!isOnRow && (event.key === " " || event.key === "Enter")) return;
    if (move(grid, event, options) || act(grid, event, options)) event.preventDefault();
  });
  body.addEventListener("click", (event) => click(grid, event, options));
}

/** @param {FileGrid} grid @param {KeyboardEvent} event @param {GridOptions} options */
function move(grid, { key, shiftKey }, { selection, events }) {
  const { active, pageSize, rows } = grid;
  /** @type {Record<string, number>} */
  const targets = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + pageSize,
    PageUp: active - pageSize,
    Home: 0,
    End: rows.length - 1,
  };
  const target = Object.hasOwn(targets, key) ? targets[key] : undefined;
  if (target === undefined) return false;
  const from = rows[active];
  grid.focusRow(target);
  const to = rows[grid.active];
  if (shiftKey && from !== undefined && to !== undefined) {
    if (selection.size === 0) selection.toggle(from.name);
    selection.extendTo(to.name, rows);
    events.onSelect();
  }
  return true;
}

/** @param {FileGrid} grid @param {KeyboardEvent} event @param {GridOptions} options */
function act(grid, { key, shiftKey, ctrlKey, metaKey }, { selection, events, hrefOf }) {
  const entry = grid.rows[grid.active];
  if (entry === undefined) return false;
  if (key === "Enter") {
    if (isFolder(entry)) location.hash = hrefOf(entry);
    else events.onOpen(entry);
    return true;
  }
  if (key === "Delete") {
    if (selection.size === 0) selection.toggle(entry.name);
    events.onSelect();
    events.onDelete();
    return true;
  }
  if (key === " ") {
    if (shiftKey) selection.extendTo(entry.name, grid.rows);
    else selection.toggle(entry.name);
  } else if (key.toLowerCase() === "a" && (ctrlKey || metaKey)) {
    selection.all(grid.rows);
  } else if (key === "Escape" && selection.size > 0) {
    selection.clear();
  } else {
    return false;
  }
  events.onSelect();
  return true;
}

/**
 * A click on the checkbox selects; any other click opens.
 *
 * @param {FileGrid} grid @param {MouseEvent} event @param {GridOptions} options
 */
function click(grid, event, { selection, events, hrefOf }) {
  if (!(event.target instanceof Element)) return;
  const row = event.target.closest(".grid-row");
  const index = row instanceof HTMLElement ? Number(row.dataset["index"]) : -1;
  const entry = grid.rows[index];
  if (entry === undefined) return;
  grid.focusRow(index);
  if (event.target.closest(".grid-check") !== null) {
    if (event.shiftKey) selection.extendTo(entry.name, grid.rows);
    else selection.toggle(entry.name);
    events.onSelect();
    return;
  }
  // Links open by themselves, also in another tab.
  if (event.target.closest("a") !== null) return;
  if (isFolder(entry)) location.hash = hrefOf(entry);
  else events.onOpen(entry);
}
