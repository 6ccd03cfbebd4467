import { ApiError, refused, unreachable } from "./api_error.js";

/** @import { Session } from "./session.js" */
/** @import { SendOptions } from "./types.d.ts" */

/**
 * @typedef {object} CallOptions
 * @property {unknown} [body] Sent as JSON.
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal | undefined} [signal]
 */

/** Calls of the server's API by whoever is signed in. */
export class Calls {
  #session;

  /** @param {Session} session Ended when the server knows its secret no more. */
  constructor(session) {
    this.#session = session;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {CallOptions} [options]
   * @returns {Promise<Response>} An answer of success.
   * @throws {ApiError} With another one, or without one.
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
    if (!response.ok) throw this.#judge(refused(response.status, await response.text()), sent);
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
   * Sends bytes, and tells how many have left. `fetch` cannot tell that.
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
      // Without a type of its own a body has none: the server goes by the file's name then.
      if (type) request.setRequestHeader("Content-Type", type);
      request.upload.onprogress = ({ loaded }) => onProgress?.(loaded);
      request.onloadend = () => signal?.removeEventListener("abort", abort);
      request.onabort = () => reject(signal?.reason);
      request.onerror = () => reject(unreachable());
      request.onload = () => {
        const { status, responseText } = request;
        if (status < 200 || status > 299) reject(this.#judge(refused(status, responseText), sent));
        else resolve(JSON.parse(responseText));
      };
      signal?.addEventListener("abort", abort);
      request.send(type ? body : body.slice(0, body.size, ""));
    });
  }

  /**
   * 401 to what is signed in still means that it was revoked.
   *
   * @param {ApiError} error
   * @param {Record<string, string>} sent
   */
  #judge(error, sent) {
    const isOurs = JSON.stringify(sent) === JSON.stringify(this.#session.headers);
    if (error.status === 401 && isOurs) {
      this.#session.end(`You were signed out. ${error.message}.`);
    }
    return error;
  }
}

/**
 * A path of segments that may hold anything. @param {...string} segments @returns {string}
 */
export function pathOf(...segments) {
  return `/${segments.map(encodeSegment).join("/")}`;
}

/**
 * A browser folds the segments "." and "..", even percent-encoded: the call would be about something else.
 *
 * @param {string} segment
 */
function encodeSegment(segment) {
  if (segment !== "." && segment !== "..") return encodeURIComponent(segment);
  throw new ApiError(0, `Browsers cannot address the name "${segment}": use a program`);
}

/**
 * A query string with its question mark; what is undefined or empty is left out.
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
