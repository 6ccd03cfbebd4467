import { delay } from "@std/async/delay";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { type DiskSpace, StoreFull } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { holdsBytes, keys, prefixes, ranges } from "../engine/keys.ts";
import { isByteKind } from "../engine/records/kinds.ts";
import { Operation } from "../engine/operation.ts";
import type {
  Garbage,
  LinkRecord,
  ManifestPage,
  PartRecord,
  PendingWrite,
} from "../engine/records.ts";
import type { StoreMeter, SweptKind } from "../engine/commits.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { addGarbage, GARBAGE_GRACE } from "../bytes/garbage.ts";
import { dropReference } from "../files/shared_bytes.ts";
import type { Trash } from "../files/trash.ts";
import type { OpenVersions } from "../bytes/open_versions.ts";
import { versionKeys } from "../bytes/versions.ts";
import { chunksOf, LATE_WRITE_TIME } from "../bytes/write_lease.ts";
import { deleteLink, linkEntryKeys } from "../links/link_record.ts";
import type { EndUpload } from "../uploads/session.ts";
import { inBatches } from "../reads/read_queue.ts";
import { isReadLease, SilentLeases, TrustedClock } from "./clocks.ts";

type GarbageEntry = Deno.KvEntry<Garbage>;

/**
 * Entries with bytes, and entries in all, that one operation deletes: about 3 MB and some milliseconds, for which a small
 * request may have to wait. (The limits of Deno KV are 900 changes and 800 KB, here of keys.)
 */
const MAX_DELETED_CHUNKS = 50;
const MAX_DELETED_ENTRIES = 250;

/** The longest pause after such an operation, in milliseconds. The pause is as long as the operation took. */
const MAX_PAUSE = 10;

/**
 * Bytes that are due for longer than this, in milliseconds, are deleted without pauses: uploads replace bytes faster than
 * they are deleted. (Bytes are deleted at most 90 s after they were replaced, of which `GARBAGE_GRACE` is 60 s.)
 */
const LATE = 20_000;

/** Journal entries that are read, and uploads that are ended, at a time. */
const PAGE = 200;

/** Items of the trash that one run deletes for a project without a trash. */
const MAX_EMPTIED = 10_000;

/** Keys of a large entry that are deleted before small entries get a turn: the work of some seconds. */
const STEP = 20_000;

/** Entries that may fail in one run: a damaged page of the store's file affects few of them, a failing disk all. */
const MAX_FAILURES = 100;

/** What the collector asks of others. */
export interface Enders {
  endUpload: EndUpload;
  trash: Pick<Trash, "remove" | "removeBefore">;
}

/**
 * Deletes what the garbage journal names, and what dead writers have left: versions that were replaced, uploads that have
 * expired, bytes that were never published. Every step can be repeated, so several processes may run it at once.
 */
export class GarbageCollector {
  readonly #leases = new SilentLeases();
  readonly #clock = new TrustedClock();
  /** Versions with a lease of a reader, at the begin of the pass. */
  #read: ReadonlySet<string> = new Set();
  #isStopped = false;

  constructor(
    private readonly db: Database,
    private readonly openVersions: OpenVersions,
    private readonly deps: Enders & { disk?: DiskSpace | undefined },
  ) {}

  /**
   * Deletes all garbage that is due. If some entries fail, the others are deleted, and the first failure is thrown. Large
   * entries come last, and small ones that become due meanwhile go in between: a file may take an hour to delete.
   *
   * @param ahead Milliseconds to add to the present time.
   */
  async run(ahead = 0): Promise<void> {
    const small = await this.#pass(ahead);
    const failures = small.failures;
    if (small.hasLarge && !this.#isStopped) {
      const large = await this.#pass(ahead, async () => void await this.#pass(ahead));
      failures.push(...large.failures);
    }
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Goes through the garbage once.
   *
   * @param interlude Called between steps of large entries. Without it they are left out.
   */
  async #pass(
    ahead: number,
    interlude?: () => Promise<void>,
  ): Promise<{ failures: unknown[]; hasLarge: boolean }> {
    await this.#takeOverLeases(ahead);
    const now = this.#clock.now() + ahead;
    // If the disk is short of space, replaced bytes go at once. Everything else keeps its time: see `#claim`.
    const isShort = await this.deps.disk?.isShort(MAX_PAYLOAD) ?? false;
    const due = ranges.garbageDue(isShort ? Math.max(now, Date.now()) + GARBAGE_GRACE : now);
    const batch = new DeleteBatch(this.db, this.db.meter);
    const began = performance.now();
    const passed = { failures: [] as unknown[], hasLarge: false };
    const entries = this.db.reader.list<Garbage>(due, { batchSize: PAGE });
    for await (const all of inBatches(entries, PAGE)) {
      const page = interlude === undefined ? all.filter(({ value }) => !isLarge(value)) : all;
      passed.hasLarge ||= page.length < all.length;
      const claims = await Promise.allSettled(page.map((entry) => this.#claim(entry, now)));
      for (const [i, entry] of page.entries()) {
        batch.isLate = now + performance.now() - began - Number(entry.key[1]) > LATE;
        try {
          const claim = claims[i];
          if (claim?.status === "rejected") throw claim.reason;
          if (claim?.value !== undefined) {
            await this.#delete(entry.key, claim.value, batch, interlude);
          }
        } catch (error) {
          const concernsAll = error instanceof StoreUnavailable || error instanceof StoreFull;
          if (concernsAll || passed.failures.push(error) > MAX_FAILURES) throw error;
        }
        if (this.#isStopped) return passed;
      }
    }
    await batch.flush();
    return passed;
  }

  /** Stops a run after its current batch. The next process continues there. */
  stop(): void {
    this.#isStopped = true;
  }

  async #delete(
    key: Deno.KvKey,
    value: Garbage,
    batch: DeleteBatch,
    interlude: () => Promise<void> = async () => {},
  ): Promise<void> {
    let deleted = 0;
    for await (const each of this.#keysOf(value)) {
      if (this.#isStopped) return;
      await batch.add(each);
      if (++deleted % STEP === 0) await interlude();
    }
    // The journal entry goes last, so that the rest is found again after an interruption.
    if (!this.#isStopped) await batch.add(key, value.kind);
  }

  /**
   * Makes the bytes of dead writers garbage, which cannot be published from then on. Finds the versions that other
   * processes read.
   */
  async #takeOverLeases(ahead: number): Promise<void> {
    const leases = this.db.reader.list<number>({ prefix: prefixes.all("lease") });
    const all = await Array.fromAsync(leases);
    const dead = new Set(this.#leases.dead(all, ahead));
    const readLeases = all.filter(({ key }) => isReadLease(key));
    this.#read = new Set(
      readLeases.filter((one) => !dead.has(one)).map(({ key }) => versionOf(key)),
    );
    for (const lease of dead) {
      if (this.#isStopped) return;
      if (isReadLease(lease.key)) await this.#endLease(lease);
      else if (!this.db.writing.has(versionOf(lease.key))) await this.#takeOver(lease);
    }
  }

  async #endLease({ key, versionstamp }: Deno.KvEntry<number>): Promise<void> {
    await this.db.commit(new Operation().check(key, versionstamp).delete(key));
  }

  async #takeOver(lease: Deno.KvEntry<number>): Promise<void> {
    const write = await this.db.reader.get<PendingWrite>(keys.pending(versionOf(lease.key)));
    const operation = new Operation()
      .unchanged(lease, write)
      .delete(lease.key)
      .delete(write.key);
    if (write.value !== null) {
      const chunks = chunksOf(write.value);
      addGarbage(operation, chunks, Date.now());
      if (this.db.bytes.isSeparate) addGarbage(operation, chunks, Date.now() + LATE_WRITE_TIME);
    }
    if ((await this.db.commit(operation)).ok) this.db.meter.tookOver();
  }

  /**
   * Returns what is to be deleted now of an entry, or `undefined` for nothing. An upload is ended first, so that no part
   * can follow.
   */
  async #claim(entry: GarbageEntry, now: number): Promise<Garbage | undefined> {
    const { key, value, versionstamp } = entry;
    if ("version" in value && this.#isRead(value.version)) return undefined;
    if (value.kind === "reference") {
      const left = await dropReference(this.db, { key, value, versionstamp });
      this.db.meter.swept(value.kind);
      return left;
    }
    if ("version" in value) return value;
    // On a short disk the list reaches into the future, but only bytes may go before their time.
    if (value.kind !== "parts" && Number(key[1]) > now) return undefined;
    return await this.#end(entry) ? value : undefined;
  }

  #isRead(version: string): boolean {
    return this.openVersions.has(version) || this.#read.has(version);
  }

  /** Ends what an entry stands for. Returns whether the entry is to be deleted. */
  async #end({ key, value, versionstamp }: GarbageEntry): Promise<boolean> {
    const { endUpload, trash } = this.deps;
    switch (value.kind) {
      case "upload":
        return await endUpload({ key, value, versionstamp });
      case "link": {
        // A link that was given another deadline in this moment has another entry.
        const operation = new Operation().check(key, versionstamp);
        deleteLink(operation, { ...value, expires: Number(key[1]) });
        if ((await this.db.commit(operation)).ok) this.db.meter.swept(value.kind);
        return false;
      }
      case "trash":
        // Removing the item deletes the entry.
        if (!await trash.remove(value, value.id)) return true;
        this.db.meter.swept(value.kind);
        return false;
      case "whole_trash":
        return await trash.removeBefore(value.before, {
          project: value.project,
          limit: MAX_EMPTIED,
        }) < MAX_EMPTIED;
      default:
        return true;
    }
  }

  /** Yields the keys that an entry stands for. Bytes come before what lists them, so that a run can be interrupted. */
  async *#keysOf(garbage: Garbage): AsyncGenerator<Deno.KvKey> {
    switch (garbage.kind) {
      case "chunks":
        return yield* this.#versionKeys(garbage.version, garbage.chunks);
      case "manifest":
        return yield* this.#manifestKeys(garbage.version);
      case "upload":
        return yield* this.#partKeys(garbage, garbage.id, { hasBytes: () => true });
      case "parts": {
        const unused = new Set(garbage.unused);
        return yield* this.#partKeys(garbage, garbage.id, { hasBytes: (part) => unused.has(part) });
      }
      case "entry":
        return yield garbage.key;
      case "links":
        return yield* this.#linkKeys(garbage.keyId);
      default:
        // What the others stand for is deleted by now.
        return;
    }
  }

  /**
   * Yields the keys of a version's bytes. Of many chunks, only existing ones are yielded: the journal has the largest
   * body that a writer might have sent, and an earlier run may have deleted some.
   */
  async *#versionKeys(version: string, chunks: number): AsyncGenerator<Deno.KvKey> {
    if (chunks <= MAX_DELETED_ENTRIES) return yield* versionKeys(version, chunks);
    const range = ranges.chunks(version, 0, chunks);
    const edge = async (reverse: boolean) => {
      const entries = this.db.bytes.reader.list(range, { limit: 1, reverse });
      for await (const { key } of entries) return Number(key.at(-1));
      return -1;
    };
    // Writers commit chunks side by side, so some in between may be missing.
    const existing = { from: Math.max(0, await edge(false)), to: await edge(true) + 1 };
    yield* versionKeys(version, chunks, existing);
  }

  /** Yields the entries of all links that were made under a signing key. */
  async *#linkKeys(keyId: string): AsyncGenerator<Deno.KvKey> {
    const links = this.db.reader.list<LinkRecord>({ prefix: prefixes.all("link") });
    for await (const { key, value } of links) {
      if (value.keyId === keyId) yield* linkEntryKeys({ id: String(key[1]), ...value });
    }
  }

  async *#manifestKeys(manifest: string): AsyncGenerator<Deno.KvKey> {
    const pages = { prefix: prefixes.all("manifest", manifest) };
    for await (const { key, value } of this.db.reader.list<ManifestPage>(pages)) {
      for (const [i, version] of value.versions.entries()) {
        yield* this.#versionKeys(version, chunkCount(value.sizes[i] ?? 0));
      }
      yield key;
    }
  }

  async *#partKeys(
    place: Garbage,
    id: string,
    { hasBytes }: { hasBytes: (part: number) => boolean },
  ): AsyncGenerator<Deno.KvKey> {
    const parts = { prefix: prefixes.all("part", place.project, place.drive, id) };
    for await (const { key, value } of this.db.reader.list<PartRecord>(parts)) {
      if (hasBytes(Number(key.at(-1)))) {
        yield* this.#versionKeys(value.version, chunkCount(value.size));
      }
      yield key;
    }
  }
}

function versionOf(key: Deno.KvKey): string {
  return String(key[1]);
}

/** Returns whether an entry may stand for more than a step. */
function isLarge(garbage: Garbage): boolean {
  switch (garbage.kind) {
    case "chunks":
      return garbage.chunks > STEP;
    case "reference":
      // It may be the last one, and become the bytes when it is claimed.
      return garbage.layout.kind === "manifest" || chunkCount(garbage.size) > STEP;
    case "manifest":
    case "upload":
    case "parts":
    case "links":
      return true;
    default:
      return false;
  }
}

/**
 * Deletes keys, without reading their values, in operations short enough not to hold up requests. Chunks are deleted
 * before the records that were added after them.
 */
class DeleteBatch {
  /** Whether to leave out the pauses. */
  isLate = false;
  #bytes = new Operation();
  #records = new Operation();
  #entries = 0;
  #large = 0;
  #kinds: SweptKind[] = [];

  constructor(private readonly db: Database, private readonly meter: StoreMeter) {}

  /** @param kind Of the journal entry, if this is its key. It is counted once it is deleted. */
  async add(key: Deno.KvKey, kind?: SweptKind): Promise<void> {
    (isByteKind(key[0]) ? this.#bytes : this.#records).delete(key);
    if (kind !== undefined) this.#kinds.push(kind);
    this.#entries++;
    if (holdsBytes(key)) this.#large++;
    if (this.#entries < MAX_DELETED_ENTRIES && this.#large < MAX_DELETED_CHUNKS) return;
    const began = performance.now();
    await this.flush();
    // Small requests that wait for the store run in the pause.
    if (!this.isLate) await delay(Math.min(performance.now() - began, MAX_PAUSE));
  }

  /** Deletes what was added since the last operation. */
  async flush(): Promise<void> {
    if (this.#entries === 0) return;
    const [bytes, records, kinds] = [this.#bytes, this.#records, this.#kinds];
    this.#bytes = new Operation();
    this.#records = new Operation();
    this.#entries = 0;
    this.#large = 0;
    this.#kinds = [];
    if (bytes.touched.size > 0) await this.db.commitBytes(bytes, "background");
    if (records.touched.size > 0) await this.db.commitBulk(records);
    for (const kind of kinds) this.meter.swept(kind);
  }
}
