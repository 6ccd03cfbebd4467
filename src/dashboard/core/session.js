/** @import { Credentials } from "./types.d.ts" */

const STORED = "kvdrive";

/** The session. The secret is kept in the tab's session storage only. */
export class Session {
  #storage;
  /** @type {(sentence: string) => void} */
  #onEnd = () => {};

  /** @param {Storage} storage The tab's session storage. */
  constructor(storage) {
    this.#storage = storage;
  }

  /** @returns {Credentials | undefined} `undefined` without a sign-in. */
  get credentials() {
    const text = this.#storage.getItem(STORED);
    return text === null ? undefined : JSON.parse(text);
  }

  /** Whether the administrator is signed in, not the owner of a project. */
  get isAdministrator() {
    return this.credentials?.kind === "admin";
  }

  /** The headers with the credentials. @returns {Record<string, string>} */
  get headers() {
    const { credentials } = this;
    return credentials === undefined ? {} : headersOf(credentials);
  }

  /** @param {Credentials} credentials Credentials that the server accepted. */
  start(credentials) {
    this.#storage.setItem(STORED, JSON.stringify(credentials));
  }

  /** Forgets the secret. @param {string} [sentence] The reason, unless the user signed out. */
  end(sentence = "") {
    if (this.credentials === undefined) return;
    this.#storage.removeItem(STORED);
    this.#onEnd(sentence);
  }

  /** @param {(sentence: string) => void} listener Called when the session ends; there is one. */
  onEnd(listener) {
    this.#onEnd = listener;
  }
}

/**
 * @param {Credentials} credentials
 * @returns {Record<string, string>}
 */
export function headersOf({ kind, secret }) {
  return kind === "admin" ? { "Authorization": `Bearer ${secret}` } : { "X-Api-Key": secret };
}
