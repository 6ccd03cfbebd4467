import { GARBAGE_GRACE, MAX_PAYLOAD, RECLAIM_BATCH, SWEEP_INTERVAL } from "../drive/limits.ts";
import { chunkCount } from "./chunks.ts";
import type { Database } from "./database.ts";
import type { Compactor } from "./compactor.ts";
import type { DiskSpace } from "./disk_space.ts";
import { throwAway } from "./garbage.ts";
import { keys, prefixes, ranges } from "./keys.ts";
import { Operation } from "./operation.ts";
import type { EndUpload } from "./overdue_uploads.ts";
import type { Readers } from "./readers.ts";
import type { Remover } from "./remover.ts";
import type { Garbage, ManifestPage, PartRecord, PendingWrite } from "./records.ts";
import { NO_METER, type StoreMeter } from "./store_meter.ts";
import { chunksOf } from "./write_lease.ts";

type GarbageEntry = Deno.KvEntry<Garbage>;

/**
 * Finishes what was left: bytes of writers that crashed, sessions whose time is over, bytes of versions that nobody
 * reads any more, projects and drives that are being removed. Every step can be repeated, so two sweeps at once, here or
 * in other processes, are harmless.
 */
export class Sweeper {
  readonly #db: Database;
  readonly #readers: Readers;
  readonly #onError: (error: unknown) => void;
  readonly #endUpload: EndUpload;
  readonly #meter: StoreMeter;
  readonly #disk: DiskSpace | undefined;
  readonly #compactor: Compactor | undefined;
  readonly #remover: Remover | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  /** Whether there is more to do than the sweep that runs may know of. */
  #woken = false;

  /**
   * @param onError Told of what stopped a sweep in the background. The next one goes on there.
   * @param endUpload Ends a session whose time is over.
   */
  constructor(
    db: Database,
    readers: Readers,
    onError: (error: unknown) => void,
    endUpload: EndUpload,
    { disk, compactor, remover, meter = NO_METER }: {
      disk?: DiskSpace | undefined;
      compactor?: Compactor | undefined;
      remover?: Remover;
      meter?: StoreMeter | undefined;
    } = {},
  ) {
    this.#meter = meter;
    this.#remover = remover;
    this.#disk = disk;
    this.#compactor = compactor;
    this.#db = db;
    this.#readers = readers;
    this.#onError = onError;
    this.#endUpload = endUpload;
  }

  /** Sweeps now and then every minute, until `stop`. */
  start(): void {
    this.#timer = setTimeout(() => this.#sweepInBackground(), 0);
  }

  /** Sweeps as soon as possible, where it is started at all; once more, where a sweep runs. */
  wake(): void {
    this.#woken = true;
    if (this.#timer === undefined || this.#stopped || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.start();
  }

  /** Ends it, after the step that is being done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#compactor?.stop();
    this.#remover?.stop();
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #sweepInBackground(): Promise<void> {
    this.#woken = false;
    this.#running = this.#sweepAndCompact().catch(this.#onError);
    await this.#running;
    this.#running = undefined;
    if (!this.#stopped) {
      const pause = this.#woken ? 0 : SWEEP_INTERVAL;
      this.#timer = setTimeout(() => this.#sweepInBackground(), pause);
    }
  }

  async #sweepAndCompact(): Promise<void> {
    const began = performance.now();
    let succeeded = false;
    try {
      await this.sweep();
      await this.#compactor?.run();
      succeeded = true;
    } finally {
      this.#meter.sweepEnded(succeeded, performance.now() - began);
    }
  }

  /** Does all that is due at a time, in milliseconds since 1970. */
  async sweep(now = Date.now()): Promise<void> {
    // First, as there is garbage after it.
    await this.#remover?.runAll();
    for await (const lease of this.#db.reader.list<number>({ prefix: prefixes.leases() })) {
      if (lease.value < now) await this.#takeOver(lease, now);
    }
    // Where the disk is short, readers in other processes get no time for replaced bytes; sessions keep theirs.
    const isShort = await this.#disk?.isShort(MAX_PAYLOAD) ?? false;
    const due = ranges.garbageDue(isShort ? now + GARBAGE_GRACE : now);
    for await (const entry of this.#db.reader.list<Garbage>(due)) {
      if (this.#stopped) return;
      const { key, value } = entry;
      if (value.kind === "upload" && Number(key[1]) > now) continue;
      const isRead = "file" in value && this.#readers.has(value.file);
      if (!isRead) await this.#remove(entry);
    }
  }

  /** Takes bytes from a writer that was silent for too long. From then on it can't publish them. */
  async #takeOver(lease: Deno.KvEntry<number>, now: number): Promise<void> {
    const write = await this.#db.reader.get<PendingWrite>(keys.pending(String(lease.key.at(-1))));
    const operation = new Operation()
      .check(lease.key, lease.versionstamp)
      .check(write.key, write.versionstamp)
      .delete(lease.key)
      .delete(write.key);
    if (write.value !== null) throwAway(operation, chunksOf(write.value), now);
    if ((await this.#db.commit(operation)).ok) this.#meter.tookOver();
  }

  async #remove(entry: GarbageEntry): Promise<void> {
    const { value } = entry;
    switch (value.kind) {
      case "chunks":
        await this.#deleteAll(chunkKeys(value, value.version, value.chunks));
        break;
      case "manifest":
        await this.#removeManifest(value);
        break;
      case "upload":
        // First, so that no part comes after.
        if (!await this.#endUpload({ ...entry, value })) return;
        await this.#removeParts(value, value.id, { withBytes: true });
        break;
      case "parts":
        await this.#removeParts(value, value.id, { withBytes: false });
        break;
    }
    await this.#db.commit(new Operation().delete(entry.key));
    this.#meter.swept(value.kind);
  }

  /** A page goes after the bytes that it lists, so a sweep that was interrupted finds the rest again. */
  async #removeManifest(place: Garbage & { kind: "manifest" }): Promise<void> {
    const pages = { prefix: prefixes.manifest(place, place.file) };
    for await (const { key, value } of this.#db.reader.list<ManifestPage>(pages)) {
      for (const [i, version] of value.versions.entries()) {
        await this.#deleteAll(chunkKeys(place, version, chunkCount(value.sizes[i] ?? 0)));
      }
      await this.#deleteAll([key]);
    }
  }

  async #removeParts(
    place: Garbage,
    id: string,
    { withBytes }: { withBytes: boolean },
  ): Promise<void> {
    const parts = { prefix: prefixes.parts(place.project, place.drive, id) };
    const found: Deno.KvKey[] = [];
    for await (const { key, value } of this.#db.reader.list<PartRecord>(parts)) {
      if (withBytes) await this.#deleteAll(chunkKeys(place, value.version, chunkCount(value.size)));
      found.push(key);
    }
    await this.#deleteAll(found);
  }

  /** Deletes without reading, in operations short enough not to hold up requests. */
  async #deleteAll(found: Iterable<Deno.KvKey>): Promise<void> {
    const all = [...found];
    for (let i = 0; i < all.length; i += RECLAIM_BATCH) {
      const operation = new Operation();
      for (const key of all.slice(i, i + RECLAIM_BATCH)) operation.delete(key);
      await this.#db.commitBulk(operation);
    }
  }
}

function* chunkKeys(place: Garbage, version: string, count: number): Generator<Deno.KvKey> {
  for (let index = 0; index < count; index++) yield keys.chunk(place, version, index);
}
