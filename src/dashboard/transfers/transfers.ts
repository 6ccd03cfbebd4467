import { type ReadonlySignal, signal } from "@preact/signals";
import type { App } from "../core/context.ts";
import type { Place } from "../files/entry.ts";

/** A file to send, with its path below the folder that it is sent to. */
export interface UploadItem {
  file: File;
  /** Such as `trip/a.jpg`; the file's name unless it came with a folder. */
  path: string;
}

/** The uploads of this page. */
export class Transfers {
  readonly #finished = signal<readonly Place[]>([]);

  constructor(readonly app: App) {}

  /** The folders in which uploads finished last: their lists load what is new. */
  get finished(): ReadonlySignal<readonly Place[]> {
    return this.#finished;
  }

  /** Sends files to a folder, after asking about conflicts and checking size and quota. */
  async upload(_place: Place, _items: readonly UploadItem[]): Promise<void> {}
}
