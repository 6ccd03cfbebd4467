import { delay } from "@std/async/delay";
import type { Database } from "../engine/database.ts";
import { StoreDamaged } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { type FileRecord, fileText, type Place, type ScrubRecord } from "../engine/records.ts";
import type { OpenVersions } from "../files/versions.ts";
import { listUsage } from "../quotas/usage.ts";
import { DamagedFiles, placeOf } from "./damaged_files.ts";
import { type CheckOutcome, FileCheck } from "./file_check.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Time between the starts of two passes, unless configured: what a disk loses is found within a month. */
export const DEFAULT_SCRUB_EVERY = 30 * 24 * 60 * MINUTE;

/** How long after its start a server leaves the disk to its users before it begins to check files. */
export const SCRUB_START_DELAY = MINUTE;

/**
 * The rest behind a batch of half a MiB, in milliseconds: so many times as long as the batch took, within these bounds. At
 * most 25 MiB/s.
 */
const MIN_REST = 20;
const MAX_REST = 2 * SECOND;
const REST_FACTOR = 3;

/** Small files share a batch, up to so many bytes or milliseconds of work. */
const BATCH_BYTES = 524_288;
const BATCH_TIME = 5;

/** While requests read or write, a batch waits for them, up to this long: then 1 MiB/s at least. */
const MAX_YIELD = SECOND / 2;
const YIELD_STEP = 25;

/** How often the position is stored: that much is checked again after a crash. */
const SAVE_INTERVAL = MINUTE;

/** How often the journal of digests is read, which other processes write as well, and whether a pass is due. */
const POLL_INTERVAL = MINUTE;

/** How long the position has to stand still before another process goes on with a pass. */
const TAKEOVER_TIME = 10 * MINUTE;

/** Records that are read at once. */
const RECORDS = 100;

export interface ScrubOptions {
  /** Milliseconds between the starts of two passes; without it there are none, and only digests are computed. */
  every: number | undefined;
  /** Told of damage that was not known yet, and of failures, after which it goes on later. */
  onError: (error: unknown) => void;
  /** Told of the beginning and the end of a pass, in a sentence. */
  onNotice: (text: string) => void;
}

/** What is known of the integrity of the files. */
export interface ScrubState {
  /** The pass that runs or ran last; `undefined` before the first one. */
  pass: ScrubRecord | undefined;
  /** The part of the bytes that the pass has checked, 0 to 1. */
  progress: number;
}

class Stopped extends Error {}

/**
 * Reads all files once in a while and compares them with their checksums and digests, so that damage of the disk is found
 * while there is a backup without it. Files that lack a digest or checksums get them: those made of many parts soon after
 * their completion. It yields to requests. The position survives restarts; of several processes on one store one works.
 */
export class Scrub {
  readonly #db: Database;
  readonly #readers: OpenVersions;
  readonly #damages: DamagedFiles;
  readonly #options: ScrubOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #wake = Promise.withResolvers<void>();
  /** Whether a file may lack its digest, or may be damaged. */
  #isWoken = false;
  #isOnUrgent = false;
  /** Files that are being checked: the one of a pass, and one for its digest. */
  #checks = 0;
  /** What was read since the last rest, and when the work on it began. */
  #batch = newBatch();
  /** Whether another process works on the pass, and since when its position is the same. */
  #other: { versionstamp: string | null; since: number } | undefined;

  constructor(db: Database, readers: OpenVersions, damages: DamagedFiles, options: ScrubOptions) {
    this.#db = db;
    this.#readers = readers;
    this.#damages = damages;
    this.#options = options;
  }

  /** Works in the background until `stop`. */
  start(): void {
    this.#running ??= this.#work();
  }

  /** Computes digests and checks damaged files soon: a file was made of many parts, or a reader met damage. */
  wake(): void {
    this.#isWoken = true;
    this.#wake.resolve();
  }

  /** Ends it after the batch that is being read. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.resolve();
    await this.#running;
  }

  /** How far it is. */
  async state(): Promise<ScrubState> {
    const { value } = await this.#db.reader.get<ScrubRecord>(keys.scrub());
    if (value === null) return { pass: undefined, progress: 0 };
    if (value.finished !== undefined) return { pass: value, progress: 1 };
    const total = await this.#totalBytes();
    return { pass: value, progress: Math.min(1, value.bytes / Math.max(1, total)) };
  }

  async #work(): Promise<void> {
    const { every } = this.#options;
    const startPassAt = performance.now() + Math.min(SCRUB_START_DELAY, every ?? 0);
    while (!this.#isStopped) {
      const isTime = every !== undefined && performance.now() >= startPassAt;
      await this.#attempt(() => this.doUrgent());
      if (isTime) await this.#attempt(() => this.#passIfDue(every));
      await this.#pause(Math.min(POLL_INTERVAL, every ?? POLL_INTERVAL));
    }
  }

  /** What fails is tried again later. */
  async #attempt(step: () => Promise<void>): Promise<void> {
    try {
      if (!this.#isStopped) await step();
    } catch (error) {
      if (!(error instanceof Stopped)) this.#options.onError(error);
    }
  }

  async #passIfDue(every: number): Promise<void> {
    if (await this.#isDue(every)) await this.pass();
  }

  /** Sleeps until it is woken. */
  async #pause(milliseconds: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([
      this.#wake.promise,
      delay(milliseconds, { signal: timer.signal }).catch(() => {}),
    ]);
    timer.abort();
    this.#wake = Promise.withResolvers();
    if (this.#isStopped) this.#wake.resolve();
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Whether a pass was interrupted, or the last one began long enough ago. A clock that was set does not hold it up. */
  async #isDue(every: number): Promise<boolean> {
    const { value, versionstamp } = await this.#db.reader.get<ScrubRecord>(keys.scrub());
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

  /** Checks the files that the journal of digests names, and those that are known to be damaged and due for a check. */
  async doUrgent(): Promise<void> {
    if (this.#isOnUrgent) return;
    this.#isOnUrgent = true;
    this.#isWoken = false;
    this.#beginWork();
    try {
      await this.#completeDigests();
      for (const { place } of await this.#damages.due()) await this.#check(place);
    } finally {
      this.#isOnUrgent = false;
    }
  }

  async #completeDigests(): Promise<void> {
    const journal = this.#db.reader.list<string>({ prefix: prefixes.all("undigested") });
    for await (const { key, versionstamp } of journal) {
      const place = placeOf(key);
      const outcome = await this.#check(place);
      if (outcome.kind === "whole" && outcome.converted) continue;
      // A damaged file gets no digest. A file that was replaced has an entry of its own if it needs one.
      await this.#db.commit(new Operation().check(key, versionstamp).delete(key));
    }
  }

  /** Checks all files behind the stored position. Ends early where another process does the same. */
  async pass(): Promise<void> {
    const { key, value, versionstamp } = await this.#db.reader.get<ScrubRecord>(keys.scrub());
    const isNew = value === null || value.finished !== undefined;
    const position = new Position(this.#db, key, versionstamp, isNew ? newPass() : value);
    const { record } = position;
    const { meter } = this.#db;
    try {
      if (!await position.save()) return this.#stepBack();
      const from = record.last === undefined ? "" : `, after ${JSON.stringify(record.last.name)}`;
      this.#options.onNotice(`The scrub checks all files${from}`);
      if (!await this.#checkAll(position)) return this.#stepBack();
      meter.scrubEnded(true);
      const { files, bytes, damaged } = record;
      this.#options.onNotice(
        `The scrub has checked ${files} files of ${bytes} bytes: ${damaged} are damaged`,
      );
    } catch (error) {
      if (error instanceof Stopped) await position.save();
      else meter.scrubEnded(false);
      throw error;
    }
  }

  async #checkAll(position: Position): Promise<boolean> {
    const { record } = position;
    this.#beginWork();
    const files = this.#db.reader.list<FileRecord>(ranges.filesFrom(record.last), {
      batchSize: RECORDS,
    });
    for await (const { key, value } of files) {
      const place = placeOf(key);
      if (isSame(place, record.last)) continue;
      const { kind } = await this.#check(place);
      record.files++;
      record.bytes += value.size;
      if (kind === "damaged") record.damaged++;
      record.last = place;
      if (!await position.saveNowAndThen()) return false;
    }
    record.finished = Date.now();
    return await position.save();
  }

  /** Another process has taken the pass over. */
  #stepBack(): void {
    this.#other = { versionstamp: null, since: performance.now() };
  }

  async #check(place: Place): Promise<CheckOutcome> {
    const { meter } = this.#db;
    let outcome = await this.#read(place);
    // A read that failed may succeed the second time.
    if (outcome.kind === "damaged") outcome = await this.#read(place);
    if (outcome.kind === "gone") return outcome;
    if (outcome.kind === "whole") {
      meter.fileScrubbed(outcome.converted ? "converted" : "whole");
      if (await this.#damages.clear(place, outcome.version)) {
        this.#options.onNotice(
          `The file ${fileText(place)} is whole: the disk gives bytes that it did not give before`,
        );
      }
    } else {
      meter.fileScrubbed("damaged");
      const { version, problem } = outcome;
      if (await this.#damages.note(place, version, problem, { isChecked: true })) {
        this.#options.onError(new StoreDamaged(fileText(place), `${problem}; ${ADVICE}`));
      }
    }
    return outcome;
  }

  async #read(place: Place): Promise<CheckOutcome> {
    const source = { db: this.#db, readers: this.#readers };
    this.#checks++;
    const check = new FileCheck(source, place, (bytes) => this.#rest(bytes));
    return await check.run().finally(() => this.#checks--);
  }

  /** The time without work before counts towards no rest. */
  #beginWork(): void {
    if (this.#checks === 0) this.#batch = newBatch();
  }

  /** Rests behind a batch, longer while requests are served. */
  async #rest(bytes: number): Promise<void> {
    this.#db.meter.scrubbed(bytes);
    this.#batch.bytes += bytes;
    const took = performance.now() - this.#batch.began;
    if (this.#batch.bytes < BATCH_BYTES && took < BATCH_TIME) return;
    await this.#sleep(Math.min(MAX_REST, Math.max(MIN_REST, REST_FACTOR * took)));
    const until = performance.now() + MAX_YIELD;
    while (this.#isBusy && performance.now() < until) await this.#sleep(YIELD_STEP);
    // A large file of a pass does not hold up the digests of new files.
    if (this.#isWoken) await this.doUrgent();
    this.#batch = newBatch();
  }

  /** The files that are checked are held as well. */
  get #isBusy(): boolean {
    return this.#readers.count > this.#checks || this.#db.isCommitting;
  }

  async #sleep(milliseconds: number): Promise<void> {
    const { signal } = this.#stopping;
    await delay(milliseconds, { signal }).catch(() => {});
    if (signal.aborted) throw new Stopped();
  }

  async #totalBytes(): Promise<number> {
    const projects = this.#db.reader.list({ prefix: prefixes.projects() });
    const ids = await Array.fromAsync(projects, ({ key }) => [String(key[1]), []] as const);
    const usages = await listUsage(this.#db, new Map(ids));
    return usages.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

const ADVICE = "bring it back from a backup, or replace or delete it over the API";

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

/** The position of a pass in the store. Each change demands that no other process has changed it. */
class Position {
  readonly record: ScrubRecord;
  readonly #db: Database;
  readonly #key: Deno.KvKey;
  #versionstamp: string | null;
  #savedAt = performance.now();

  constructor(db: Database, key: Deno.KvKey, versionstamp: string | null, record: ScrubRecord) {
    this.#db = db;
    this.#key = key;
    this.#versionstamp = versionstamp;
    this.record = record;
  }

  /** Stores it; `false` where another process has. */
  async save(): Promise<boolean> {
    const operation = new Operation()
      .check(this.#key, this.#versionstamp)
      .set(this.#key, this.record);
    const outcome = await this.#db.commit(operation);
    if (outcome.ok) this.#versionstamp = outcome.versionstamp;
    this.#savedAt = performance.now();
    return outcome.ok;
  }

  async saveNowAndThen(): Promise<boolean> {
    return performance.now() - this.#savedAt < SAVE_INTERVAL || await this.save();
  }
}
