import { Limiter } from "./limiter.js";
import { FILES_AT_ONCE, REQUESTS_AT_ONCE } from "./limits.js";
import { UploadTask } from "./upload_task.js";
import { totalsOf } from "./upload_totals.js";

/** @import { Place } from "./upload_task.js" */
/** @import { Totals } from "./upload_totals.js" */

/**
 * A listener for changes, called after a delay, with the uploads stored since the last call.
 *
 * @typedef {(stored: readonly UploadTask[]) => void} Listener
 */

/** Milliseconds between two notifications of listeners; progress events are more frequent. */
const NOTIFY_INTERVAL = 100;

/** The same while nothing arrives, so that the displayed speed decreases. */
const IDLE_INTERVAL = 1000;

/** The uploads of this page, which continue when the view changes. A few run at once, the others wait. */
export class UploadList {
  /** @type {UploadTask[]} */
  #tasks = [];
  /** @type {Set<Listener>} */
  #listeners = new Set();
  /** @type {UploadTask[]} stored since the last notification of the listeners */
  #stored = [];
  #isNotifying = false;
  /** @type {number | undefined} */
  #idleTimer;
  #running = 0;
  /** Index of the first task that may be waiting. */
  #next = 0;
  #dependencies;

  /** @param {Omit<import("./upload_task.js").UploadDependencies, "requests">} dependencies */
  constructor(dependencies) {
    this.#dependencies = { ...dependencies, requests: new Limiter(REQUESTS_AT_ONCE) };
  }

  get tasks() {
    return /** @type {readonly UploadTask[]} */ (this.#tasks);
  }

  get records() {
    return this.#dependencies.records;
  }

  /** Whether closing the page would interrupt something. */
  get isActive() {
    return this.#tasks.some(({ isOver }) => !isOver);
  }

  /**
   * A running upload of the same file continues; another file for the same name replaces it: of two at once,
   * either could finish last.
   *
   * @param {readonly {place: Place, file: File}[]} uploads
   */
  add(uploads) {
    const known = new Map(this.#tasks.map((task) => [keyOf(task.place), task]));
    for (const { place, file } of uploads) {
      const earlier = known.get(keyOf(place));
      if (earlier !== undefined && isSameFile(earlier.file, file) && canResume(earlier)) {
        earlier.reset(file);
        continue;
      }
      earlier?.cancel();
      const task = new UploadTask(place, file, this.#dependencies);
      task.onChange = () => this.#notify();
      this.#tasks.push(task);
      known.set(keyOf(place), task);
    }
    this.#next = 0;
    this.#pump();
    this.#notify();
  }

  /** @param {UploadTask} task */
  cancel(task) {
    task.cancel();
    this.#notify();
  }

  cancelAll() {
    for (const task of this.#tasks) if (!task.isOver) task.cancel();
    this.#notify();
  }

  /** @param {UploadTask} task a failed one */
  retry(task) {
    task.reset();
    this.#next = 0;
    this.#pump();
    this.#notify();
  }

  /** Removes finished, canceled and failed uploads from the list. */
  clear() {
    this.#tasks = this.#tasks.filter(({ isOver }) => !isOver);
    this.#next = 0;
    this.#notify();
  }

  /** Stops and removes all uploads, as on sign-out. They can be resumed. */
  close() {
    for (const task of this.#tasks) if (!task.isOver) task.stop();
    this.#tasks = [];
    this.#next = 0;
    this.#notify();
  }

  /**
   * @param {Listener} listener
   * @param {AbortSignal} signal ends the subscription
   */
  subscribe(listener, signal) {
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  /** @returns {Totals} */
  totals() {
    return totalsOf(this.#tasks);
  }

  #pump() {
    while (this.#running < FILES_AT_ONCE) {
      while (this.#next < this.#tasks.length && this.#tasks[this.#next]?.state !== "waiting") {
        this.#next++;
      }
      const task = this.#tasks[this.#next];
      if (task === undefined) return;
      this.#running++;
      task.run().then(() => this.#ended(task));
    }
  }

  /** @param {UploadTask} task */
  #ended(task) {
    this.#running--;
    if (task.state === "done") this.#stored.push(task);
    this.#pump();
    this.#notify();
  }

  #notify() {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    setTimeout(() => {
      this.#isNotifying = false;
      clearTimeout(this.#idleTimer);
      if (this.#running > 0) this.#idleTimer = setTimeout(() => this.#notify(), IDLE_INTERVAL);
      const stored = this.#stored;
      this.#stored = [];
      for (const listener of this.#listeners) listener(stored);
    }, NOTIFY_INTERVAL);
  }
}

/** @param {Place} place */
function keyOf({ project, drive, name }) {
  return JSON.stringify([project, drive, name]);
}

/**
 * @param {File} a
 * @param {File} b
 */
function isSameFile(a, b) {
  return a.size === b.size && a.lastModified === b.lastModified;
}

/** @param {UploadTask} task */
function canResume({ state }) {
  return state === "waiting" || state === "running" || state === "failed";
}
