import { fill, h } from "../core/dom.js";
import { formatBytes, formatDuration, formatNumber, formatSpeed } from "../core/format.js";
import { icon } from "../core/icon.js";
import { MAX_SHOWN_TRANSFERS } from "./limits.js";

/** @import { UploadList } from "./upload_list.js" */
/** @import { UploadTask } from "./upload_task.js" */

/** Order of the rows: failed, running, waiting, finished. */
const RANK = { failed: 0, running: 1, waiting: 2, done: 3, canceled: 4 };

/**
 * The uploads of this page, one row each, with their bars and buttons. A row stays the same element while it changes,
 * so that it keeps the focus.
 *
 * @param {UploadList} list
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function createUploadRows(list, signal) {
  /** @type {Map<UploadTask, ReturnType<typeof createRow>>} */
  const rows = new Map();
  const items = h("ul", { class: "transfers", "aria-label": "Uploads of this tab" });
  const more = h("p", { class: "hint" });
  const render = () => {
    const order = list.tasks.toSorted((a, b) => RANK[a.state] - RANK[b.state]);
    const shown = order.slice(0, MAX_SHOWN_TRANSFERS);
    for (const task of rows.keys()) if (!shown.includes(task)) forget(rows, task);
    for (const [index, task] of shown.entries()) {
      const row = rows.get(task) ?? createRow(task, list);
      rows.set(task, row);
      row.update();
      putAt(items, row.element, index);
    }
    const hidden = order.length - shown.length;
    fill(more, hidden > 0 ? `and ${formatNumber(hidden, "more file")}` : null);
  };
  render();
  list.subscribe(render, signal);
  return h("div", {}, items, more);
}

/** @param {Map<UploadTask, {element: HTMLElement}>} rows @param {UploadTask} task */
function forget(rows, task) {
  rows.get(task)?.element.remove();
  rows.delete(task);
}

/**
 * Moving an element loses the focus, so rows in the right place and the focused row are not moved.
 *
 * @param {HTMLElement} parent @param {HTMLElement} element @param {number} index
 */
function putAt(parent, element, index) {
  const there = parent.children[index];
  if (there === element) return;
  if (element.parentElement === parent && element.contains(document.activeElement)) return;
  parent.insertBefore(element, there ?? null);
}

/** @param {UploadTask} task @param {UploadList} list */
function createRow(task, list) {
  const { name, drive } = task.place;
  const bar = h("progress", { max: Math.max(task.size, 1), "aria-label": `Progress of ${name}` });
  const state = h("span", { class: "transfer-state" });
  const message = h("p", { class: "problem", role: "status" });
  const retry = action("Retry", "retry", name, () => list.retry(task));
  const cancel = action("Cancel", "close", name, () => list.cancel(task));
  const element = h(
    "li",
    { class: "transfer" },
    h("span", { class: "transfer-name", title: `${drive}/${name}` }, name),
    h("span", { class: "actions" }, retry, cancel),
    bar,
    state,
    message,
  );
  const update = () => {
    bar.value = task.size === 0 && task.state === "done" ? 1 : task.sent;
    element.dataset["state"] = task.state;
    setText(state, describe(task));
    setText(message, task.message);
    hide(retry, task.state !== "failed", element);
    hide(cancel, task.state === "done" || task.state === "canceled", element);
  };
  return { element, update };
}

/**
 * @param {string} label @param {"retry" | "close"} picture @param {string} name @param {() => void} run
 */
function action(label, picture, name, run) {
  return h(
    "button",
    { type: "button", class: "small", on: { click: run } },
    icon(picture),
    label,
    h("span", { class: "visually-hidden" }, ` the upload of ${name}`),
  );
}

/**
 * Hides a button and moves its focus to the next one.
 *
 * @param {HTMLButtonElement} button @param {boolean} isHidden @param {HTMLElement} row
 */
function hide(button, isHidden, row) {
  if (button.hidden === isHidden) return;
  const hadFocus = document.activeElement === button;
  button.hidden = isHidden;
  if (!isHidden || !hadFocus) return;
  const next = row.querySelector("button:not([hidden])");
  if (next instanceof HTMLElement) return next.focus();
  row.tabIndex = -1;
  row.focus();
}

/** Sets a text if it changed, so that screen readers do not repeat it. @param {Element} element @param {string} text */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {UploadTask} task @returns {string} the status text */
function describe(task) {
  const { size, sent, speedometer } = task;
  switch (task.state) {
    case "waiting":
      return `${formatBytes(size)} · waiting`;
    case "done":
      return `${formatBytes(size)} · uploaded`;
    case "canceled":
      return "Canceled";
    case "failed":
      return sent > 0 ? `Failed with ${formatBytes(sent)} of ${formatBytes(size)}` : "Failed";
  }
  const { speed } = speedometer;
  const left = speedometer.remaining(size - sent);
  return [
    `${formatBytes(sent)} of ${formatBytes(size)}`,
    sent === size ? "storing" : speed === undefined ? "" : formatSpeed(speed),
    left === undefined || sent === size ? "" : `${formatDuration(Math.max(1, left / 1000))} left`,
    task.resumed ? "resumed" : "",
  ].filter((text) => text !== "").join(" · ");
}
