import { effect } from "@preact/signals";
import type { SessionStore } from "../../core/session.ts";

/** What is kept: the first pages of folders, and thumbnails. */
export type StoreName = "listings" | "thumbnails";

/** Records of each kind at most; the oldest ones are removed. */
const MAX_RECORDS: Record<StoreName, number> = { listings: 40, thumbnails: 3000 };

const DATABASE = "kvdrive.files";
/** The session that the records are of: another one must not see them. */
const OWNER = "kvdrive.files.session";

/** A cache in the browser that outlives the page, but not the session. Without IndexedDB nothing is kept. */
export class BrowserStore {
  readonly #database: Promise<IDBDatabase | undefined>;

  constructor(session: SessionStore) {
    this.#database = open().catch(() => undefined);
    effect(() => {
      const id = session.current.value?.id;
      if (id !== undefined && id === localStorage.getItem(OWNER)) return;
      void this.#clear();
      if (id === undefined) localStorage.removeItem(OWNER);
      else localStorage.setItem(OWNER, id);
    });
  }

  /** Returns a record; `undefined` if there is none, or if it cannot be read. */
  async get<T>(store: StoreName, key: string): Promise<T | undefined> {
    const database = await this.#database;
    if (database === undefined) return undefined;
    try {
      const record = await result(database.transaction(store).objectStore(store).get(key));
      return (record as { value: T } | undefined)?.value;
    } catch {
      // It is only a cache.
      return undefined;
    }
  }

  /** Keeps a record. What cannot be kept, such as on a full disk, is not. */
  async put(store: StoreName, key: string, value: unknown): Promise<void> {
    const database = await this.#database;
    if (database === undefined) return;
    try {
      const records = database.transaction(store, "readwrite").objectStore(store);
      await result(records.put({ value, at: Date.now() }, key));
      await trim(records, MAX_RECORDS[store]);
    } catch {
      // It is only a cache.
    }
  }

  async #clear(): Promise<void> {
    const database = await this.#database;
    try {
      for (const store of database?.objectStoreNames ?? []) {
        database?.transaction(store, "readwrite").objectStore(store).clear();
      }
    } catch {
      // The browser, or another page, has closed the database: it is being deleted.
    }
  }
}

const known = new WeakMap<SessionStore, BrowserStore>();

/** Returns the only cache of the page: each cache keeps a database connection open. */
export function browserStoreOf(session: SessionStore): BrowserStore {
  const store = known.get(session) ?? new BrowserStore(session);
  known.set(session, store);
  return store;
}

/** Removes the oldest records beyond a number. */
async function trim(records: IDBObjectStore, max: number): Promise<void> {
  const surplus = await result(records.count()) - max;
  if (surplus <= 0) return;
  const oldest = await result(records.index("at").getAllKeys(null, surplus));
  for (const key of oldest) records.delete(key);
}

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    for (const name of Object.keys(MAX_RECORDS)) {
      request.result.createObjectStore(name).createIndex("at", "at");
    }
  };
  const database = await result(request);
  // Another page deletes the database or brings it to another version, and would have to wait.
  database.onversionchange = () => database.close();
  return database;
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
