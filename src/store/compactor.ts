import { DatabaseSync } from "node:sqlite";
import { COMPACT_FROM_PAGES } from "../drive/limits.ts";
import type { CompactTask } from "./compact_worker.ts";
import { freePages } from "./free_pages.ts";

/** Makes the store's file smaller where much of it is free. */
export class Compactor {
  readonly #path: string;
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  /** @param path The store's file. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Gives back what is free, if it is worth it; throws what kept it from that. */
  async run(): Promise<void> {
    if (Atomics.load(this.#stop, 0) !== 0 || !this.#isWorthIt()) return;
    const worker = new Worker(new URL("./compact_worker.ts", import.meta.url), { type: "module" });
    const { promise, resolve, reject } = Promise.withResolvers<{ error?: string }>();
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(`Cannot compact the store: ${event.message}`));
    };
    try {
      worker.postMessage({ path: this.#path, stop: this.#stop } satisfies CompactTask);
      const { error } = await promise;
      if (error !== undefined) throw new Error(`Cannot compact the store: ${error}`);
    } finally {
      worker.terminate();
    }
  }

  #isWorthIt(): boolean {
    const sqlite = new DatabaseSync(this.#path, { readOnly: true });
    try {
      return freePages(sqlite) >= COMPACT_FROM_PAGES;
    } finally {
      sqlite.close();
    }
  }

  /** Ends a run after the slice that it is at, and lets none begin any more. */
  stop(): void {
    Atomics.store(this.#stop, 0, 1);
    Atomics.notify(this.#stop, 0);
  }
}
