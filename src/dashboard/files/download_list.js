import { isAbort } from "../core/notices.js";
import { saveFile } from "./save_file.js";

/** @import { Api } from "../core/api.js" */
/** @import { Notices } from "../core/notices.js" */
/** @import { Place } from "./upload_task.js" */

/**
 * A running download.
 *
 * @typedef {object} Download
 * @property {Place} place
 * @property {number} size bytes
 * @property {number} received bytes so far
 * @property {AbortController} stopping
 */

/** Milliseconds between two notifications of listeners. */
const NOTIFY_INTERVAL = 100;

/** The downloads of this page, which continue when the view changes. A finished one is reported and removed. */
export class DownloadList {
  /** @type {Set<Download>} */
  #running = new Set();
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #isNotifying = false;
  #api;
  #notices;

  /** @param {Api} api @param {Notices} notices */
  constructor(api, notices) {
    this.#api = api;
    this.#notices = notices;
  }

  get running() {
    return [...this.#running];
  }

  get isActive() {
    return this.#running.size > 0;
  }

  /**
   * Saves a file on the user's disk. Must be called during a click event: browsers open the save dialog only
   * then.
   *
   * @param {Place} place
   * @param {number} size bytes
   */
  async start(place, size) {
    const stopping = new AbortController();
    /** @type {Download} */
    const download = { place, size, received: 0, stopping };
    this.#running.add(download);
    this.#notify();
    try {
      await saveFile(this.#api, place, size, {
        signal: stopping.signal,
        onProgress: (bytes) => {
          download.received = bytes;
          this.#notify();
        },
      });
      this.#notices.say(`“${place.name}” was downloaded`);
    } catch (error) {
      // Cancelling is not a failure.
      if (!isAbort(error)) this.#notices.fail(error);
    } finally {
      this.#running.delete(download);
      this.#notify();
    }
  }

  close() {
    for (const { stopping } of this.#running) stopping.abort();
  }

  /** @param {() => void} listener @param {AbortSignal} signal ends the subscription */
  subscribe(listener, signal) {
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  #notify() {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    setTimeout(() => {
      this.#isNotifying = false;
      for (const listener of this.#listeners) listener();
    }, NOTIFY_INTERVAL);
  }
}
