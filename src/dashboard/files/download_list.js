import { isAbort } from "../core/notices.js";
import { saveFile } from "./save_file.js";

/** @import { Api } from "../core/api.js" */
/** @import { Notices } from "../core/notices.js" */
/** @import { Place } from "./upload_task.js" */

/**
 * A download that runs.
 *
 * @typedef {object} Download
 * @property {Place} place
 * @property {number} size bytes
 * @property {number} received bytes so far
 * @property {AbortController} stopping
 */

/** Milliseconds between two times that listeners are told. */
const PAUSE = 100;

/** The downloads of this page, which go on whatever the page shows. One that has ended is told of and forgotten. */
export class DownloadList {
  /** @type {Set<Download>} */
  #running = new Set();
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #isTelling = false;
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
   * Saves a file on the person's disk. It has to be called while a click is told of, as a browser asks where to only
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
    this.#tell();
    try {
      await saveFile(this.#api, place, size, {
        signal: stopping.signal,
        onProgress: (bytes) => {
          download.received = bytes;
          this.#tell();
        },
      });
      this.#notices.say(`“${place.name}” was downloaded`);
    } catch (error) {
      // Not choosing a place, and canceling, is no failure.
      if (!isAbort(error)) this.#notices.fail(error);
    } finally {
      this.#running.delete(download);
      this.#tell();
    }
  }

  close() {
    for (const { stopping } of this.#running) stopping.abort();
  }

  /** @param {() => void} listener @param {AbortSignal} signal ends that */
  subscribe(listener, signal) {
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  #tell() {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setTimeout(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    }, PAUSE);
  }
}
