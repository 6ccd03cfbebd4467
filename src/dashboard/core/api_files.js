import { pathOf, queryOf } from "./call.js";

/** @import { Calls } from "./call.js" */
/** @import * as T from "./types.d.ts" */

/**
 * The file API: drives, files and uploads in parts.
 *
 * @param {Calls} calls
 */
export function fileCalls(calls) {
  return {
    ...readCalls(calls),
    ...writeCalls(calls),
    ...uploadCalls(calls),
    ...openUploadCalls(calls),
  };
}

/** @param {...string} rest */
function at(...rest) {
  return pathOf("v1", ...rest);
}

/** @param {Calls} calls */
function readCalls(calls) {
  return {
    /** @param {string} project @param {AbortSignal} [signal] @returns {Promise<{project_id: string, drives: T.Drive[]}>} */
    listDrives: (project, signal) => calls.json("GET", at(project), { signal }),
    /**
     * A page of names with their details, folders as one name each unless `recursive`.
     *
     * @param {string} project @param {string} drive @param {T.ListOptions} [options]
     * @returns {Promise<T.FilePage>}
     */
    listFiles: (project, drive, { signal, recursive = false, ...query } = {}) =>
      calls.json(
        "GET",
        at(project, drive, "files") + queryOf({ ...query, recursive, details: true }),
        {
          signal,
        },
      ),
    /**
     * The content of a file.
     *
     * @param {string} project @param {string} drive @param {string} name
     * @param {{range?: string, signal?: AbortSignal, method?: "GET" | "HEAD"}} [options] `range`: value of the header, such as `bytes=0-999`.
     * @returns {Promise<Response>}
     */
    download: (project, drive, name, { range, signal, method = "GET" } = {}) =>
      calls.send(method, at(project, drive, "files", "download") + queryOf({ name }), {
        headers: range === undefined ? {} : { Range: range },
        signal,
      }),
  };
}

/** @param {Calls} calls */
function writeCalls(calls) {
  return {
    /**
     * Stores a file of up to 10 MB.
     *
     * @param {string} project @param {string} drive @param {string} name @param {Blob} body
     * @param {T.SendOptions} [options]
     * @returns {Promise<{name: string, project_id: string, drive_name: string}>}
     */
    putFile: (project, drive, name, body, options) =>
      calls.upload(at(project, drive, "files") + queryOf({ name }), body, options),
    /**
     * Deletes up to 1000 files. `failed` is an object if the server was started with `--failed-reasons`.
     *
     * @param {string} project @param {string} drive @param {string[]} names
     * @param {AbortSignal} [signal]
     * @returns {Promise<{deleted: string[], failed: string[] | Record<string, string>}>}
     */
    deleteFiles: (project, drive, names, signal) =>
      calls.json("DELETE", at(project, drive, "files"), { body: { names }, signal }),
  };
}

/** @param {Calls} calls */
function uploadCalls(calls) {
  return {
    /**
     * Opens an upload in parts.
     *
     * @param {string} project @param {string} drive @param {string} name
     * @param {{type?: string, signal?: AbortSignal}} [options]
     * @returns {Promise<{name: string, upload_id: string}>}
     */
    startUpload: (project, drive, name, { type = "", signal } = {}) =>
      calls.json("POST", at(project, drive, "uploads") + queryOf({ name }), {
        headers: type === "" ? {} : { "Content-Type": type },
        signal,
      }),
    /**
     * Sends a part of 5 to 10 MB, the last may be smaller. A part that is sent again replaces the earlier one.
     *
     * @param {string} project @param {string} drive
     * @param {{id: string, name: string, part: number}} place `part` is 1 to 10,000.
     * @param {Blob} body
     * @param {T.SendOptions} [options]
     * @returns {Promise<{part: number}>}
     */
    putPart: (project, drive, { id, name, part }, body, options) =>
      calls.upload(
        at(project, drive, "uploads", id, "parts") + queryOf({ name, part }),
        body,
        options,
      ),
  };
}

/** @param {string} project @param {string} drive @param {string} id @param {string} name */
function upload(project, drive, id, name) {
  return at(project, drive, "uploads", id) + queryOf({ name });
}

/** @param {Calls} calls */
function openUploadCalls(calls) {
  return {
    /** @param {string} project @param {string} drive @param {{last?: string, limit?: number, signal?: AbortSignal}} [options] @returns {Promise<T.UploadPage>} */
    listUploads: (project, drive, { signal, ...query } = {}) =>
      calls.json("GET", at(project, drive, "uploads") + queryOf(query), { signal }),
    /** @param {string} project @param {string} drive @param {string} id @param {string} name @param {AbortSignal} [signal] @returns {Promise<T.UploadState>} */
    uploadState: (project, drive, id, name, signal) =>
      calls.json("GET", upload(project, drive, id, name), { signal }),
    /** @param {string} project @param {string} drive @param {string} id @param {string} name @param {AbortSignal} [signal] @returns {Promise<unknown>} */
    completeUpload: (project, drive, id, name, signal) =>
      calls.json("PATCH", upload(project, drive, id, name), { signal }),
    /** @param {string} project @param {string} drive @param {string} id @param {string} name @returns {Promise<unknown>} */
    abortUpload: (project, drive, id, name) =>
      calls.json("DELETE", upload(project, drive, id, name)),
  };
}
