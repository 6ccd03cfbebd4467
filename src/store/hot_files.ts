import { HOT_FILES_BYTES } from "../drive/limits.ts";
import type { ChangeProbe } from "./change_probe.ts";
import type { FileRecord } from "./records.ts";

/** A small file with its bytes, which were compared with their digest. */
export interface HotFile {
  record: FileRecord;
  content: Uint8Array<ArrayBuffer>;
}

/** What a file takes beside its bytes: its record and its name. */
const OVERHEAD = 1024;

/**
 * Small files as they were read last, for as long as nobody has committed anything to the store since: one commit of
 * whomever, and all of them are forgotten. So what it gives is what the store would give.
 */
export class HotFiles {
  readonly #probe: ChangeProbe | undefined;
  readonly #files = new Map<string, HotFile>();
  #bytes = 0;
  #state: number | undefined;

  /** @param probe Without one nothing is kept. */
  constructor(probe: ChangeProbe | undefined) {
    this.#probe = probe;
  }

  /** The state of the store a moment from now; it has to be awaited before the read that `keep` is told of. */
  async state(): Promise<number | undefined> {
    const state = await this.#probe?.soon();
    this.#forgetUnless(state);
    return state;
  }

  /** A file that is as it was at the last `state`. */
  get(id: string): HotFile | undefined {
    return this.#files.get(id);
  }

  /** Keeps a file that was read after the store had that state, unless it has changed since. */
  keep(id: string, file: HotFile, state: number | undefined): void {
    if (state === undefined || state !== this.#probe?.state()) return;
    this.#forgetUnless(state);
    const bytes = file.content.byteLength + OVERHEAD;
    if (this.#bytes + bytes > HOT_FILES_BYTES) this.#forget();
    if (this.#files.has(id)) return;
    this.#files.set(id, file);
    this.#bytes += bytes;
  }

  #forgetUnless(state: number | undefined): void {
    if (state !== undefined && state === this.#state) return;
    this.#forget();
    this.#state = state;
  }

  #forget(): void {
    if (this.#bytes === 0) return;
    this.#files.clear();
    this.#bytes = 0;
  }
}
