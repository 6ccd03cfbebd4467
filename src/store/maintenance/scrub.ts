import { delay } from "@std/async/delay";
import { DAY, MINUTE, SECOND } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { StoreDamaged } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { type FileRecord, fileText, type Place, type ScrubRecord } from "../engine/records.ts";
import { isPresent } from "../files/file_record.ts";
import type { OpenVersions } from "../bytes/open_versions.ts";
import { listUsage } from "../quotas/usage.ts";
import { type DamagedFiles, placeOf } from "./damaged_files.ts";
import { type CheckOutcome, FileCheck } from "./file_check.ts";
import { BackgroundLoop } from "./background_loop.ts";

/** The time between the starts of two passes, unless configured: damage is found within a month. */
export const DEFAULT_SCRUB_EVERY = 30 * DAY;

/** How long after the start of the server no pass begins, so that users have the disk to themselves. */
export const SCRUB_START_DELAY = MINUTE;

/**
 * The rest after a batch of half a MiB, in milliseconds: `REST_FACTOR` times as long as the batch took, within these
 * bounds. It limits the scrub to 25 MiB/s.
 */
const MIN_REST = 20;
const MAX_REST = 2 * SECOND;
const REST_FACTOR = 3;

/** Bytes, and milliseconds of work, after which a batch ends. Small files share one. */
const BATCH_BYTES = 524_288;
const BATCH_TIME = 5;

/** While requests read or write, a batch waits for them up to `MAX_YIELD` milliseconds, which leaves at least 1 MiB/s. */
const MAX_YIELD = SECOND / 2;
const YIELD_STEP = 25;

/** How often the position is stored: after a crash, that much is checked again. */
const SAVE_INTERVAL = MINUTE;

/** How often to look for files without a digest, which other processes write as well, and whether a pass is due. */
const POLL_INTERVAL = MINUTE;

/** How long the position of another process must not change before this one continues its pass. */
const TAKEOVER_TIME = 10 * MINUTE;

/** Records that are read at a time. */
const RECORDS = 100;

/** What an operator should do with a damaged file, as the end of a sentence. */
const ADVICE = "bring it back from a backup, or replace or delete it over the API";

export interface ScrubOptions {
  /** Milliseconds between the starts of two passes. Without it there are no passes, and only digests are computed. */
  every: number | undefined;
  /** Called with damage that was not known yet, and with failures, after which the work is tried again later. */
  onError: (error: unknown) => void;
  /** Called with a sentence when a pass begins or ends. */
  onNotice: (text: string) => void;
}

export interface ScrubState {
  /** The pass that runs or ran last; `undefined` before the first one. */
  pass: ScrubRecord | undefined;
  /** The part of the bytes that the pass has checked, 0 to 1. */
  progress: number;
}

class Stopped extends Error {}

/**
 * Reads all files once in a while and compares them with their checksums and digests, so that damage is found while there
 * is a backup without it. Files that were made of several parts get their digest soon after their completion.
 *
 * It yields to requests, and its position survives restarts. Of several processes on one store, one runs a pass.
 */
export class Scrub {
  readonly #stopping = new AbortController();
  readonly #loop: BackgroundLoop;
  /** When passes may begin, as `performance.now()`. */
  readonly #startPassAt: number;
  /** Whether a file may lack its digest, or may be damaged. */
  #isWoken = false;
  #isOnUrgent = false;
  /** Files that are being checked: at most one of a pass, and one urgent one. */
  #checks = 0;
  #batch = newBatch();
  /** The pass that this process runs. */
  #position: Position | undefined;
  /** The position of another process that runs the pass, and since when it has not changed. */
  #other: { versionstamp: string | null; since: number } | undefined;

  constructor(
    private readonly db: Database,
    private readonly openVersions: OpenVersions,
    private readonly damaged: DamagedFiles,
    private readonly options: ScrubOptions,
  ) {
    const { every = POLL_INTERVAL, onError } = options;
    const interval = Math.min(POLL_INTERVAL, every);
    this.#loop = new BackgroundLoop(() => this.#work(), { interval, onError });
    this.#startPassAt = performance.now() + Math.min(SCRUB_START_DELAY, every);
  }

  /** Works in the background until `stop`. */
  start(): void {
    this.#loop.start();
  }

  /** Makes `checkUrgent` run soon: a file was made of several parts, or a reader met damage. */
  wake(): void {
    this.#isWoken = true;
    this.#loop.wake();
  }

  /** Stops after the batch that is being read. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
  }

  /** Returns the progress of the pass. */
  async state(): Promise<ScrubState> {
    const { value } = await this.db.reader.get<ScrubRecord>(keys.scrub());
    if (value === null) return { pass: undefined, progress: 0 };
    if (value.finished !== undefined) return { pass: value, progress: 1 };
    const total = await this.#totalBytes();
    return { pass: value, progress: Math.min(1, value.bytes / Math.max(1, total)) };
  }

  /** Adds the digests that are missing, and checks the damaged files that are due for a check. */
  async checkUrgent(): Promise<void> {
    if (this.#isOnUrgent) return;
    this.#isOnUrgent = true;
    this.#isWoken = false;
    this.#beginWork();
    try {
      await this.#addDigests();
      for (const { place } of await this.damaged.due()) await this.#check(place);
    } finally {
      this.#isOnUrgent = false;
    }
  }

  /** Checks all files behind the stored position. Ends early if another process does the same. */
  async pass(): Promise<void> {
    const { key, value, versionstamp } = await this.db.reader.get<ScrubRecord>(keys.scrub());
    const isNew = value === null || value.finished !== undefined;
    const position = new Position(this.db, key, versionstamp, isNew ? newPass() : value);
    const { record } = position;
    const { meter } = this.db;
    try {
      if (!await position.save()) return this.#leaveToOther();
      const from = record.last === undefined ? "" : `, after ${JSON.stringify(record.last.name)}`;
      this.options.onNotice(`The scrub checks all files${from}`);
      if (!await this.#checkAll(position)) return this.#leaveToOther();
      meter.scrubEnded(true);
      const { files, bytes, damaged } = record;
      this.options.onNotice(
        `The scrub has checked ${files} files of ${bytes} bytes: ${damaged} are damaged`,
      );
    } catch (error) {
      if (error instanceof Stopped) await position.save();
      else meter.scrubEnded(false);
      throw error;
    } finally {
      this.#position = undefined;
    }
  }

  async #work(): Promise<void> {
    const { every } = this.options;
    await this.#attempt(() => this.checkUrgent());
    if (every === undefined || performance.now() < this.#startPassAt) return;
    await this.#attempt(async () => {
      if (await this.#isDue(every)) await this.pass();
    });
  }

  /** Runs a step. If it fails, the loop runs it again later. */
  async #attempt(step: () => Promise<void>): Promise<void> {
    try {
      if (!this.#isStopped) await step();
    } catch (error) {
      if (!(error instanceof Stopped)) this.options.onError(error);
    }
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Returns whether a pass was interrupted, or the last one began long enough ago or, after a jump, in the future. */
  async #isDue(every: number): Promise<boolean> {
    const { value, versionstamp } = await this.db.reader.get<ScrubRecord>(keys.scrub());
    if (value?.finished !== undefined) {
      this.#other = undefined;
      const passed = Date.now() - value.started;
      return passed >= every || passed < 0;
    }
    if (this.#other === undefined) return true;
    if (this.#other.versionstamp !== versionstamp) {
      this.#other = { versionstamp, since: performance.now() };
    }
    return performance.now() - this.#other.since >= TAKEOVER_TIME;
  }

  async #addDigests(): Promise<void> {
    const journal = this.db.reader.list<string>({ prefix: prefixes.all("undigested") });
    for await (const { key, versionstamp } of journal) {
      const outcome = await this.#check(placeOf(key));
      if (outcome.kind === "whole" && outcome.converted) continue;
      // A damaged file gets no digest. A file that was replaced has a new entry if it needs one.
      await this.db.commit(new Operation().check(key, versionstamp).delete(key));
    }
  }

  /** Returns `false` if another process runs the pass. */
  async #checkAll(position: Position): Promise<boolean> {
    const { record } = position;
    this.#position = position;
    this.#beginWork();
    const files = this.db.diskReader.list<FileRecord>(ranges.filesFrom(record.last), {
      batchSize: RECORDS,
    });
    for await (const { key, value } of files) {
      const place = placeOf(key);
      if (isSame(place, record.last) || !isPresent(value, Date.now())) continue;
      const { kind } = await this.#check(place);
      record.files++;
      record.bytes += value.size;
      if (kind === "damaged") record.damaged++;
      record.last = place;
      if (!await position.saveIfDue()) return false;
    }
    record.finished = Date.now();
    return await position.save();
  }

  #leaveToOther(): void {
    this.#other = { versionstamp: null, since: performance.now() };
  }

  async #check(place: Place): Promise<CheckOutcome> {
    const { meter } = this.db;
    let outcome = await this.#read(place);
    // A read that failed may succeed the second time.
    if (outcome.kind === "damaged") outcome = await this.#read(place);
    if (outcome.kind === "gone") return outcome;
    if (outcome.kind === "whole") {
      meter.fileScrubbed(outcome.converted ? "converted" : "whole");
      if (await this.damaged.clear(place, outcome.version)) {
        this.options.onNotice(
          `The file ${
            fileText(place)
          } is whole: the disk returns bytes that it did not return before`,
        );
      }
    } else {
      meter.fileScrubbed("damaged");
      const { version, problem } = outcome;
      if (await this.damaged.note(place, version, problem, { isChecked: true })) {
        this.options.onError(new StoreDamaged(fileText(place), `${problem}; ${ADVICE}`));
      }
    }
    return outcome;
  }

  async #read(place: Place): Promise<CheckOutcome> {
    const source = { db: this.db, openVersions: this.openVersions };
    this.#checks++;
    const check = new FileCheck(source, place, (bytes) => this.#rest(bytes));
    return await check.run().finally(() => this.#checks--);
  }

  /** Starts a new batch unless one is under way: the idle time before must not count as work. */
  #beginWork(): void {
    if (this.#checks === 0) this.#batch = newBatch();
  }

  /** Rests when a batch is full, longer while requests are served. */
  async #rest(bytes: number): Promise<void> {
    this.db.meter.scrubbed(bytes);
    this.#batch.bytes += bytes;
    const took = performance.now() - this.#batch.began;
    if (this.#batch.bytes < BATCH_BYTES && took < BATCH_TIME) return;
    await this.#sleep(Math.min(MAX_REST, Math.max(MIN_REST, REST_FACTOR * took)));
    const until = performance.now() + MAX_YIELD;
    while (this.#isBusy && performance.now() < until) await this.#sleep(YIELD_STEP);
    // Shows other processes that the pass is running, also during a file that takes hours.
    await this.#position?.saveIfDue();
    // A large file of a pass must not hold up the digests of new files.
    if (this.#isWoken) await this.checkUrgent();
    this.#batch = newBatch();
  }

  /** Whether requests read or write. The scrub itself keeps the versions open that it checks. */
  get #isBusy(): boolean {
    return this.openVersions.count > this.#checks || this.db.isCommitting;
  }

  async #sleep(milliseconds: number): Promise<void> {
    const { signal } = this.#stopping;
    await delay(milliseconds, { signal }).catch(() => {});
    if (signal.aborted) throw new Stopped();
  }

  async #totalBytes(): Promise<number> {
    const usages = await listUsage(this.db);
    return usages.values().reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

/** What was read since the last rest, and when that began. */
function newBatch(): { bytes: number; began: number } {
  return { bytes: 0, began: performance.now() };
}

function newPass(): ScrubRecord {
  return { started: Date.now(), files: 0, bytes: 0, damaged: 0 };
}

function isSame(place: Place, other: Place | undefined): boolean {
  return other !== undefined && place.project === other.project && place.drive === other.drive &&
    place.name === other.name;
}

/** The stored position of a pass. Every change checks that no other process has changed it. */
class Position {
  readonly record: ScrubRecord;
  #savedAt = performance.now();

  constructor(
    private readonly db: Database,
    private readonly key: Deno.KvKey,
    private versionstamp: string | null,
    record: ScrubRecord,
  ) {
    this.record = record;
  }

  /** Stores it. Returns `false` if another process has changed it. */
  async save(): Promise<boolean> {
    this.#savedAt = performance.now();
    const operation = new Operation()
      .check(this.key, this.versionstamp)
      .set(this.key, this.record);
    const outcome = await this.db.commit(operation);
    if (outcome.ok) this.versionstamp = outcome.versionstamp;
    return outcome.ok;
  }

  /** Stores it every `SAVE_INTERVAL`. */
  async saveIfDue(): Promise<boolean> {
    return performance.now() - this.#savedAt < SAVE_INTERVAL || await this.save();
  }
}
