import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { type Api, dataOf } from "../../core/api.ts";
import type { Entry, Place } from "../entry.ts";
import { merge } from "./order.ts";

export interface ListPage {
  entries: readonly Entry[];
  /** Where the next page begins; absent on the last page. */
  last?: string | undefined;
}

/** Reads the page after a name. */
export type ReadPage = (last: string | undefined, signal: AbortSignal) => Promise<ListPage>;

/** How complete a list is: nothing was read, it is being read for the first time, or it is complete. */
export type Progress = "empty" | "partial" | "complete";

/** Part of the list's length after which more of it is shown: showing costs time in proportion to the length. */
const STEP = 0.25;

/** The entries of a folder, in their natural order. It is read page by page, and shown from the first page on. */
export class Listing {
  readonly #entries = signal<readonly Entry[]>([]);
  readonly entries: ReadonlySignal<readonly Entry[]> = this.#entries;
  readonly #progress = signal<Progress>("empty");
  readonly progress: ReadonlySignal<Progress> = this.#progress;
  readonly #error = signal<unknown>(undefined);
  /** Why the last reading ended early. */
  readonly error: ReadonlySignal<unknown> = this.#error;
  readonly #isReading = signal(false);
  readonly isReading: ReadonlySignal<boolean> = this.#isReading;
  /** Names that were removed while the list was read: pages that are on their way may still have them. */
  #removed = new Set<string>();
  #reading = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(
    private readonly readPage: ReadPage,
    /** Called with the first page of a complete reading. */
    private readonly onFirstPage: (page: ListPage) => void = () => {},
  ) {}

  /** Shows entries that may be out of date until the first page is read. */
  seed(entries: readonly Entry[]): void {
    if (this.#progress.value === "empty" && this.#entries.value.length === 0) {
      this.#entries.value = merge([], entries);
    }
  }

  /** Resolves when the reading that is under way has ended. */
  get done(): Promise<void> {
    return this.#done;
  }

  /** Reads everything. A list that was shown before stays as it is until the new one is complete. */
  read(): Promise<void> {
    return this.#done = this.#read();
  }

  async #read(): Promise<void> {
    this.#reading.abort();
    const { signal } = this.#reading = new AbortController();
    this.#removed = new Set();
    batch(() => {
      this.#isReading.value = true;
      this.#error.value = undefined;
    });
    try {
      await this.#readAll(signal);
    } catch (error) {
      if (!signal.aborted) this.#error.value = error;
    } finally {
      if (!signal.aborted) this.#isReading.value = false;
    }
  }

  /** Takes entries out of the list at once. */
  remove(names: Iterable<string>): void {
    const removed = new Set(names);
    for (const name of removed) this.#removed.add(name);
    this.#entries.value = this.#entries.value.filter(({ name }) => !removed.has(name));
  }

  /** Gives an entry another name at once. */
  rename({ from, to }: { from: string; to: string }): void {
    const entries = this.#entries.value;
    const entry = entries.find(({ name }) => name === from);
    if (entry === undefined) return;
    const others = entries.filter(({ name }) => name !== from && name !== to);
    this.#entries.value = merge(others, [{ ...entry, name: to }]);
  }

  stop(): void {
    this.#reading.abort();
    this.#isReading.value = false;
  }

  async #readAll(signal: AbortSignal): Promise<void> {
    const isQuiet = this.#progress.value !== "empty";
    let shown: readonly Entry[] = [];
    let added: Entry[] = [];
    let last: string | undefined;
    do {
      const page = await this.readPage(last, signal);
      if (signal.aborted) return;
      if (last === undefined) this.onFirstPage(page);
      for (const entry of page.entries) if (!this.#removed.has(entry.name)) added.push(entry);
      last = page.last;
      const isWorthwhile = added.length > shown.length * STEP;
      if (last !== undefined && !isWorthwhile) continue;
      shown = merge(shown.filter(({ name }) => !this.#removed.has(name)), added);
      added = [];
      if (last === undefined || !isQuiet) this.#show(shown, last === undefined);
    } while (last !== undefined);
  }

  #show(entries: readonly Entry[], isComplete: boolean): void {
    batch(() => {
      this.#entries.value = entries;
      this.#progress.value = isComplete ? "complete" : "partial";
    });
  }
}

/** Reads a page of a folder, or of the names in its drive that contain a text. */
export async function readPage(
  api: Api,
  { project, drive, path }: Place,
  query: { last?: string | undefined; contains?: string },
  signal: AbortSignal,
): Promise<ListPage> {
  const { last = "", contains } = query;
  const scope = contains === undefined ? { prefix: path, recursive: false } : { contains };
  const answer = await dataOf(api.GET("/v1/{project_id}/{drive_name}/files", {
    params: {
      path: { project_id: project, drive_name: drive },
      query: { ...scope, last, limit: 1000, details: true },
    },
    signal,
  }));
  const files = answer.files ?? [];
  // The marker of the folder itself is no entry of it.
  const entries = files.filter(({ name }) => name !== path).map(entryOf);
  return { entries, last: answer.paging?.last };
}

function entryOf({ created: _, ...file }: Omit<Entry, "kind">): Entry {
  return file.name.endsWith("/") ? { kind: "folder", name: file.name } : { kind: "file", ...file };
}
