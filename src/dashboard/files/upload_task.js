import { MAX_FILE } from "./part_plan.js";
import { SINGLE_REQUEST } from "./limits.js";
import { isReadable } from "./is_readable.js";
import { openUpload } from "./open_upload.js";
import { sendParts } from "./send_parts.js";
import { isTemporary, sentenceOf, withRetries } from "./retry.js";
import { Speedometer } from "./speedometer.js";

/** @import { Api } from "../core/api.js" */

/**
 * The destination of a file.
 *
 * @typedef {{project: string, drive: string, name: string}} Place
 *
 * @typedef {"waiting" | "running" | "failed" | "done" | "canceled"} UploadState
 *
 * The API calls of an upload.
 *
 * @typedef {Pick<Api, "putFile" | "startUpload" | "uploadState" | "putPart" | "completeUpload" | "abortUpload">} UploadApi
 *
 * State shared by the uploads of a page.
 *
 * @typedef {object} UploadDependencies
 * @property {UploadApi} api
 * @property {import("./resume_records.js").ResumeRecords} records
 * @property {import("./limiter.js").Limiter} requests
 * @property {(milliseconds: number, signal?: AbortSignal) => Promise<void>} [wait] between two attempts
 */

/** The upload of one file: in one request, or in parts; parts that the server has are not sent again. */
export class UploadTask {
  /** @type {UploadState} */
  state = "waiting";
  /** Message for the user: the failure, or the pending retry. */
  message = "";
  /** Bytes sent or being sent. */
  sent = 0;
  /** Whether it resumed an upload of an earlier page. */
  resumed = false;
  speedometer = new Speedometer();
  /** Called after every change. @type {() => void} */
  onChange = () => {};

  #dependencies;
  #controller = new AbortController();
  /** @type {string | undefined} */
  #uploadId;

  /** @param {Place} place @param {File} file @param {UploadDependencies} dependencies */
  constructor(place, file, dependencies) {
    this.place = place;
    this.file = file;
    this.#dependencies = dependencies;
  }

  get size() {
    return this.file.size;
  }

  /** The server's id of the upload in parts, once there is one. */
  get uploadId() {
    return this.#uploadId;
  }

  get isOver() {
    return this.state === "done" || this.state === "canceled" || this.state === "failed";
  }

  /** Sends the file. Never throws: failures are in `state` and `message`. */
  async run() {
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    this.speedometer.reset();
    this.#setState("running", "");
    try {
      if (this.size > MAX_FILE) throw new Error(TOO_LARGE);
      if (this.size > SINGLE_REQUEST) await this.#sendInParts(signal);
      else await this.#sendWhole(signal);
      this.#count(this.size);
      this.#setState("done", "");
    } catch (error) {
      if (signal.aborted) return;
      const unreadable = isTemporary(error) && !await isReadable(this.file);
      if (signal.aborted) return;
      this.#setState("failed", unreadable ? UNREADABLE : sentenceOf(error));
    }
  }

  /**
   * Resets a failed upload for another run; its stored parts are kept.
   *
   * @param {File} [file] the same file, if it was chosen again
   */
  reset(file) {
    if (this.state !== "failed") return;
    this.file = file ?? this.file;
    this.#setState("waiting", "");
  }

  /** Aborts the upload, also on the server. */
  cancel() {
    if (this.state === "done" || this.state === "canceled") return;
    this.stop();
    const { api, records } = this.#dependencies;
    const { project, drive, name } = this.place;
    if (this.#uploadId === undefined) return;
    records.remove(this.#uploadId);
    // If that fails, the server removes the upload when it expires.
    api.abortUpload(project, drive, this.#uploadId, name).catch(() => {});
  }

  /** Stops the upload. It can be resumed. */
  stop() {
    this.#setState("canceled", "");
    this.#controller.abort(new DOMException("The upload was canceled", "AbortError"));
  }

  /** @param {AbortSignal} signal */
  async #sendWhole(signal) {
    const { api, requests } = this.#dependencies;
    const { project, drive, name } = this.place;
    const onProgress = (/** @type {number} */ bytes) => this.#count(Math.min(bytes, this.size));
    const options = { signal, onProgress, type: this.file.type };
    const send = () => api.putFile(project, drive, name, this.file, options);
    await this.#retrying(() => requests.run(send, signal), signal);
  }

  /** @param {AbortSignal} signal */
  async #sendInParts(signal) {
    const { api, records, requests } = this.#dependencies;
    const { project, drive, name } = this.place;
    const upload = await openUpload(this.place, this.file, this.#uploadId, {
      ...{ api, records, signal },
      retrying: (action) => this.#retrying(action, signal),
    });
    const { id, partSize, received } = upload;
    this.resumed = upload.isResumed;
    this.#uploadId = id;
    await sendParts(this.file, { partSize, received }, {
      onCount: (bytes) => this.#count(bytes),
      send: (part, body, onProgress) => {
        const place = { id, name, part };
        const send = () => api.putPart(project, drive, place, body, { signal, onProgress });
        return this.#retrying(() => requests.run(send, signal), signal, `part ${part}`);
      },
    });
    await this.#retrying(() => api.completeUpload(project, drive, id, name, signal), signal);
    records.remove(id);
    this.#uploadId = undefined;
  }

  /**
   * @template T
   * @param {() => Promise<T>} action @param {AbortSignal} signal @param {string} [what]
   */
  async #retrying(action, signal, what) {
    const { wait } = this.#dependencies;
    let hasFailed = false;
    const result = await withRetries(action, {
      signal,
      ...(wait === undefined ? {} : { wait }),
      onRetry: (error, milliseconds) => {
        hasFailed = true;
        const subject = what === undefined ? "Trying" : `Trying ${what}`;
        const seconds = Math.ceil(milliseconds / 1000);
        this.#setMessage(`${subject} again in ${seconds} s: ${sentenceOf(error)}`);
      },
    });
    if (hasFailed && this.state === "running") this.#setMessage("");
    return result;
  }

  /** @param {number} bytes */
  #count(bytes) {
    this.sent = bytes;
    this.speedometer.read(bytes);
    this.onChange();
  }

  /** @param {string} message */
  #setMessage(message) {
    this.message = message;
    this.onChange();
  }

  /** @param {UploadState} state @param {string} message */
  #setState(state, message) {
    this.state = state;
    this.#setMessage(message);
  }
}

const TOO_LARGE = "The file is larger than 97 GiB, the limit of 10,000 parts of 10 MiB";

const UNREADABLE =
  "The file can no longer be read. It was changed, moved or deleted: choose it again";
