/** @import { Credentials } from "./types.d.ts" */

const STORED = "kvdrive";

/** Who is signed in. The secret lives as long as the tab, and nowhere else. */
export class Session {
  #storage;
  /** @type {(sentence: string) => void} */
  #onEnd = () => {};

  /** @param {Storage} storage The tab's. */
  constructor(storage) {
    this.#storage = storage;
  }

  /** @returns {Credentials | undefined} Nothing while nobody is signed in. */
  get credentials() {
    const text = this.#storage.getItem(STORED);
    return text === null ? undefined : JSON.parse(text);
  }

  /** Whether it is the administrator, and not the owner of one project. */
  get isAdministrator() {
    return this.credentials?.kind === "admin";
  }

  /** The headers that say who calls. @returns {Record<string, string>} */
  get headers() {
    const { credentials } = this;
    return credentials === undefined ? {} : headersOf(credentials);
  }

  /** @param {Credentials} credentials They have let somebody in. */
  start(credentials) {
    this.#storage.setItem(STORED, JSON.stringify(credentials));
  }

  /** Forgets the secret. @param {string} [sentence] Why, where the person did not ask for it. */
  end(sentence = "") {
    if (this.credentials === undefined) return;
    this.#storage.removeItem(STORED);
    this.#onEnd(sentence);
  }

  /** @param {(sentence: string) => void} listener The only one; told when nobody is signed in any more. */
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
