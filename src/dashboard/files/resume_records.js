import { MAX_RESUME_RECORDS } from "./limits.js";

/**
 * What is remembered of an upload in parts, so that it can go on after the page was closed. There is no secret in it:
 * without the project's key it opens nothing.
 *
 * @typedef {object} ResumeRecord
 * @property {string} project
 * @property {string} drive
 * @property {string} name
 * @property {number} size bytes of the file
 * @property {number} lastModified milliseconds since 1970, of the file on the person's disk
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

/** The uploads that can go on, in the browser's storage. Where that is full or switched off they are not remembered. */
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
      // What somebody else wrote there, or a storage that may not be read, holds no upload.
      return [];
    }
  }

  /**
   * The record of this very file for this name, if there is one.
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
