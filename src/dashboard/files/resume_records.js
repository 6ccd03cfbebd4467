import { MAX_RESUME_RECORDS } from "./limits.js";

/**
 * The record of an upload in parts, to resume it after the page was closed. It has no secret:
 * without the project's key it opens nothing.
 *
 * @typedef {object} ResumeRecord
 * @property {string} project
 * @property {string} drive
 * @property {string} name
 * @property {number} size bytes of the file
 * @property {number} lastModified milliseconds since 1970, of the local file
 * @property {string} uploadId
 * @property {number} partSize bytes
 */

const KEY = "kvdrive.uploads";

/** @type {Record<keyof ResumeRecord, "string" | "number">} */
const FIELDS = {
  project: "string",
  drive: "string",
  name: "string",
  size: "number",
  lastModified: "number",
  uploadId: "string",
  partSize: "number",
};

/** The resumable uploads, in the browser's storage. If that is full or disabled, nothing is remembered. */
export class ResumeRecords {
  #storage;

  /** @param {Pick<Storage, "getItem" | "setItem"> | undefined} storage */
  constructor(storage) {
    this.#storage = storage;
  }

  /** @returns {ResumeRecord[]} the oldest first */
  all() {
    try {
      const stored = JSON.parse(this.#storage?.getItem(KEY) ?? "[]");
      return Array.isArray(stored) ? stored.filter(isRecord) : [];
    } catch {
      // Foreign data, or an unreadable storage, counts as empty.
      return [];
    }
  }

  /**
   * The record of this file for this name, if any.
   *
   * @param {Pick<ResumeRecord, "project" | "drive" | "name">} place
   * @param {Pick<File, "size" | "lastModified">} file
   */
  find(place, file) {
    return this.all().findLast((record) =>
      isSamePlace(record, place) && record.size === file.size &&
      record.lastModified === file.lastModified
    );
  }

  /** @param {string} uploadId */
  byId(uploadId) {
    return this.all().find((record) => record.uploadId === uploadId);
  }

  /** @param {ResumeRecord} record */
  save(record) {
    const others = this.all().filter(({ uploadId }) => uploadId !== record.uploadId);
    this.#write([...others, record].slice(-MAX_RESUME_RECORDS));
  }

  /** @param {string} uploadId */
  remove(uploadId) {
    const all = this.all();
    const others = all.filter((record) => record.uploadId !== uploadId);
    if (others.length < all.length) this.#write(others);
  }

  /** @param {readonly ResumeRecord[]} records */
  #write(records) {
    try {
      this.#storage?.setItem(KEY, JSON.stringify(records));
    } catch {
      // The upload itself does not need the record.
    }
  }
}

/**
 * @param {Pick<ResumeRecord, "project" | "drive" | "name">} a
 * @param {Pick<ResumeRecord, "project" | "drive" | "name">} b
 */
function isSamePlace(a, b) {
  return a.project === b.project && a.drive === b.drive && a.name === b.name;
}

/**
 * @param {unknown} value
 * @returns {value is ResumeRecord}
 */
function isRecord(value) {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map(Object.entries(value));
  return Object.entries(FIELDS).every(([name, type]) => typeof fields.get(name) === type) &&
    Number(fields.get("partSize")) > 0;
}
