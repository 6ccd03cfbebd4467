import { ApiError, refused, unreachable } from "./api_error.js";

/** @import { Session } from "./session.js" */
/** @import { SendOptions } from "./types.d.ts" */

/**
 * @typedef {object} CallOptions
 * @property {unknown} [body] Sent as JSON.
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal | undefined} [signal]
 */

/** Calls of the server's API with the credentials of the session. */
export class Calls {
  #session;

  /** @param {Session} session Ended when the server no longer accepts its secret. */
  constructor(session) {
    this.#session = session;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {CallOptions} [options]
   * @returns {Promise<Response>} A successful answer.
   * @throws {ApiError} For any other answer, or none.
   */
  async send(method, path, { body, headers = {}, signal } = {}) {
    const sent = this.#session.headers;
    const response = await fetch(path, {
      method,
      headers: { ...sent, ...headers },
      credentials: "omit",
      cache: "no-store",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error) => {
      throw signal?.aborted ? error : unreachable();
    });
    if (!response.ok) throw this.#toApiError(response.status, await response.text(), sent);
    return response;
  }

  /**
   * The same for an answer in JSON.
   *
   * @template T
   * @param {string} method
   * @param {string} path
   * @param {CallOptions} [options]
   * @returns {Promise<T>}
   */
  async json(method, path, options = {}) {
    const response = await this.send(method, path, options);
    return await response.json().catch((error) => {
      throw options.signal?.aborted ? error : unreachable();
    });
  }

  /**
   * Sends bytes and reports progress, which `fetch` cannot.
   *
   * @template T
   * @param {string} path
   * @param {Blob} body
   * @param {SendOptions} [options]
   * @returns {Promise<T>}
   */
  upload(path, body, { signal, onProgress, type, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sent = this.#session.headers;
      const request = new XMLHttpRequest();
      const abort = () => request.abort();
      request.open("POST", path);
      for (const [name, value] of Object.entries({ ...sent, ...headers })) {
        request.setRequestHeader(name, value);
      }
      // A body without a type is sent without one: the server then derives it from the file's name.
      if (type) request.setRequestHeader("Content-Type", type);
      request.upload.onprogress = ({ loaded }) => onProgress?.(loaded);
      request.onloadend = () => signal?.removeEventListener("abort", abort);
      request.onabort = () => reject(signal?.reason);
      request.onerror = () => reject(unreachable());
      request.onload = () => {
        const { status, responseText } = request;
        if (status < 200 || status > 299) reject(this.#toApiError(status, responseText, sent));
        else resolve(JSON.parse(responseText));
      };
      signal?.addEventListener("abort", abort);
      request.send(type ? body : body.slice(0, body.size, ""));
    });
  }

  /**
   * The error for a refused call. 401 with the credentials of this session ends it: its secret was revoked.
   *
   * @param {number} status
   * @param {string} text The answer's body.
   * @param {Record<string, string>} sent The credentials of the call.
   * @returns {ApiError}
   */
  #toApiError(status, text, sent) {
    const error = refused(status, text);
    const isCurrent = JSON.stringify(sent) === JSON.stringify(this.#session.headers);
    if (status === 401 && isCurrent) this.#session.end(`You were signed out. ${error.message}.`);
    return error;
  }
}

/** A path of segments that may contain any characters. @param {...string} segments @returns {string} */
export function pathOf(...segments) {
  return `/${segments.map(encodeSegment).join("/")}`;
}

/**
 * Browsers resolve the segments "." and "..", even percent-encoded: the call would go to another path.
 *
 * @param {string} segment
 */
function encodeSegment(segment) {
  if (segment !== "." && segment !== "..") return encodeURIComponent(segment);
  throw new ApiError(0, `Browsers cannot address the name "${segment}": use a program`);
}

/**
 * A query string with its question mark. Undefined and empty values are left out.
 *
 * @param {Record<string, string | number | boolean | undefined>} values
 * @returns {string}
 */
export function queryOf(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
