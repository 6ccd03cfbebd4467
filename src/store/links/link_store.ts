import { monotonicUlid } from "@std/ulid";
import { KeyedMutex } from "../../rules/concurrency.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "../accounts/events.ts";
import { isVersion } from "../bytes/versions.ts";
import type { Database } from "../engine/database.ts";
import { BeingDeleted, NoSuchProject, TooManyLinks } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation, SharedCheck } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type {
  LinkKeyRecord,
  LinkRecord,
  LinkTarget,
  PasswordHash,
  ProjectRecord,
} from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import { inBatches, MAX_GET_MANY, MAX_LIST_BATCH, readMany } from "../reads/read_queue.ts";
import { DownloadCounts } from "./download_counts.ts";
import {
  addLink,
  changeLink,
  deleteLink,
  type LinkSettings,
  Passwords,
  withSettings,
} from "./link_record.ts";
import { SigningKey, SigningKeys } from "./signing_key.ts";

/** Links of one project. They do not count towards its quota; each takes about 1 KB of the store. */
export const MAX_LINKS = 10_000;

/** How long a browser that has sent a link's password need not send it again, in milliseconds. */
export const UNLOCKED_TIME = 12 * 60 * 60 * 1000;

export interface NewLink extends LinkSettings {
  target: LinkTarget;
  /** When it is created, in milliseconds since 1970. */
  created?: number;
}

/** A link as its owner sees it. */
export type LinkInfo = LinkRecord & {
  id: string;
  /** What follows `/s/` in its address. */
  token: string;
  downloads: number;
};

export interface LinkPage {
  links: LinkInfo[];
  /** Whether there is another link. */
  more: boolean;
}

/** A link that was found by its token and is open. */
export interface OpenLink {
  id: string;
  record: LinkRecord;
  /** Whether it was found without a read. */
  wasCached: boolean;
}

interface ReadLink {
  id: string;
  record: LinkRecord;
  versionstamp: string;
  project: string;
  projectCreated: number;
  isUsedUp: boolean;
}

export class LinkStore {
  readonly passwords = new Passwords();
  readonly #signing: SigningKeys;
  readonly #counts: DownloadCounts;
  readonly #cache: TtlCache<ReadLink>;
  readonly #locks = new KeyedMutex();
  /** Expired links that are being deleted. */
  readonly #expired = new Set<string>();

  /** @param deps.notify Reports that a caller may have lost access. */
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly events: EventLog,
    private readonly deps: { notify: () => void; onError: (error: unknown) => void },
  ) {
    this.#signing = new SigningKeys(db);
    this.#counts = new DownloadCounts(db, deps.onError);
    // Every request for a link with a limit reads its count.
    const isCacheable = ({ record }: ReadLink) => record.maxDownloads === undefined;
    this.#cache = new TtlCache((id) => this.#read(id), { isCacheable });
  }

  /**
   * Creates a link. What it leads to need not exist.
   *
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   * @throws {TooManyLinks}
   */
  async create(
    { project, drive }: { project: string; drive: string },
    { target, created = Date.now(), ...wanted }: NewLink,
    actor: Actor = COMMAND_LINE,
  ): Promise<LinkInfo> {
    const settings = await this.#hashed(wanted);
    await this.#requireRoom(project);
    await this.#signing.ensure();
    const made = await transact(this.db, async () => {
      const [owner, stored] = await this.db.reader.getMany<[ProjectRecord, LinkKeyRecord]>([
        keys.project(project),
        keys.linkKey(),
      ]);
      if (owner.value === null) throw new NoSuchProject(project);
      if (owner.value.removing?.includes(drive)) throw new BeingDeleted("drive", drive);
      const signing = stored.value;
      if (signing === null) return undefined;
      const id = monotonicUlid();
      const { created: projectCreated } = owner.value;
      const origin = { ...target, project, projectCreated, drive, keyId: signing.id, created };
      const record = withSettings({ ...origin, download: false }, settings);
      const operation = new Operation().share(new SharedCheck(owner.key, owner.versionstamp))
        .share(new SharedCheck(stored.key, stored.versionstamp));
      addLink(operation, id, record);
      this.events.record(operation, actor, { event: "link.created", project, target: id });
      return { operation, result: { id, record, token: new SigningKey(signing).tokenOf(id) } };
    });
    this.#signing.forget();
    return { ...made.record, id: made.id, token: made.token, downloads: 0 };
  }

  /**
   * Returns a page of a drive's links, the newest first.
   *
   * @param query.last The listing continues after this id; empty for the first page.
   * @param query.accepts Which links are listed; all unless given.
   */
  async list(
    project: string,
    drive: string,
    { limit, last, accepts = () => true }: {
      limit: number;
      last: string;
      accepts?: (link: LinkRecord) => boolean;
    },
  ): Promise<LinkPage> {
    if (await this.projects.isHidden({ project, drive })) return { links: [], more: false };
    await this.#counts.flush();
    const signing = await this.#signing.find();
    const links: LinkInfo[] = [];
    const index = this.db.reader.list(ranges.linksBefore(project, drive, last), {
      reverse: true,
      batchSize: Math.min(limit + 1, MAX_LIST_BATCH),
    });
    for await (const batch of inBatches(index, 5 * MAX_GET_MANY)) {
      const ids = batch.map(({ key }) => String(key.at(-1)));
      for (const link of await this.#readAll(ids, signing)) {
        if (!accepts(link)) continue;
        if (links.length === limit) return { links, more: true };
        links.push(link);
      }
    }
    return { links, more: false };
  }

  /** Returns a link of a drive by its id; `undefined` if there is none, or it has expired. */
  async get(project: string, drive: string, id: string): Promise<LinkInfo | undefined> {
    // The store cannot look for a text of any length.
    if (!isVersion(id) || await this.projects.isHidden({ project, drive })) return undefined;
    await this.#counts.flush();
    const [link] = await this.#readAll([id], await this.#signing.find());
    return link?.project === project && link.drive === drive ? link : undefined;
  }

  /**
   * Changes the settings of a link, whose address stays the same. A count of downloads goes on. Returns `undefined` if the
   * drive has no link with this id.
   */
  async change(
    { project, drive, id }: { project: string; drive: string; id: string },
    changes: LinkSettings,
    actor: Actor = COMMAND_LINE,
  ): Promise<LinkInfo | undefined> {
    const settings = await this.#hashed(changes);
    const isChanged = await transact(this.db, async () => {
      const [owner, { key, value, versionstamp }] = await this.db.reader
        .getMany<[ProjectRecord, LinkRecord]>([keys.project(project), keys.link(id)]);
      const isOfDrive = value?.project === project && value.drive === drive;
      const isBeingDeleted = owner.value === null || owner.value.removing?.includes(drive);
      if (!isOfDrive || isBeingDeleted || hasExpired(value)) return { result: false };
      const operation = new Operation().check(key, versionstamp)
        .share(new SharedCheck(owner.key, owner.versionstamp));
      changeLink(operation, id, { before: value, after: withSettings(value, settings) });
      this.events.record(operation, actor, { event: "link.changed", project, target: id });
      return { operation, result: true };
    });
    if (!isChanged) return undefined;
    this.#cache.forget(id);
    this.deps.notify();
    return await this.get(project, drive, id);
  }

  async #hashed({ password, ...settings }: LinkSettings): Promise<LinkSettings<PasswordHash>> {
    const isText = typeof password === "string";
    return { ...settings, password: isText ? await this.passwords.hash(password) : password };
  }

  /** Revokes a link. Returns whether the drive had one with this id. */
  async revoke(
    project: string,
    drive: string,
    id: string,
    actor: Actor = COMMAND_LINE,
  ): Promise<boolean> {
    const isRevoked = await transact(this.db, async () => {
      const [owner, link] = await this.db.reader.getMany<[ProjectRecord, LinkRecord]>([
        keys.project(project),
        keys.link(id),
      ]);
      const { key, value, versionstamp } = link;
      if (value?.project !== project || value.drive !== drive) return { result: false };
      const operation = new Operation().check(key, versionstamp)
        .share(new SharedCheck(owner.key, owner.versionstamp));
      deleteLink(operation, { id, ...value });
      this.events.record(operation, actor, { event: "link.revoked", project, target: id });
      return { operation, result: true };
    });
    if (!isRevoked) return false;
    this.#cache.forget(id);
    this.deps.notify();
    return true;
  }

  /** To be called after links were deleted with their drive: a later drive can have its name. */
  forgetDeleted(): void {
    this.#cache.clear();
  }

  /** Makes the signing key if there is none. */
  async ensureKey(): Promise<void> {
    await this.#signing.ensure();
  }

  /** Revokes all links of the store, by another signing key. */
  async rotateKey(): Promise<void> {
    const record = (operation: Operation) =>
      this.events.record(operation, COMMAND_LINE, { event: "link_key.rotated" });
    await this.#signing.rotate(record);
    this.deps.notify();
  }

  /**
   * Returns the link of a token, which may be any text; `undefined` if there is none, or it has expired or is used up.
   * A link may be cached for `KEY_CACHE_TTL`.
   */
  async find(token: string): Promise<OpenLink | undefined> {
    const signing = await this.#signing.find();
    const { id, isGenuine } = signing.parse(token);
    const wasCached = this.#cache.peek(id) !== undefined;
    const found = await this.projects.findOwned(this.#cache, id);
    const link = found?.thing;
    const isOpen = isGenuine && link !== undefined && link.record.keyId === signing.id &&
      !link.isUsedUp && !this.#expired.has(id) &&
      !found?.owner.deleting.includes(link.record.drive);
    if (isOpen && !hasExpired(link.record)) return { id, record: link.record, wasCached };
    if (isOpen) this.#expire(link);
    await this.#equalize(id, { wasCached, isFileRead: false });
    return undefined;
  }

  /** To be called when a link leads to no file, so that the refusal takes as long as that of an unknown link. */
  async refuse({ id, wasCached }: OpenLink): Promise<void> {
    await this.#equalize(id, { wasCached, isFileRead: true });
  }

  /**
   * Counts an answer with bytes of a file. Returns `false` if the link is used up: then nothing may be sent. The limit is
   * exact across processes.
   */
  async countDownload({ id, record }: OpenLink): Promise<boolean> {
    const { maxDownloads } = record;
    if (maxDownloads === undefined) {
      this.#counts.add(id);
      return true;
    }
    return await this.#locks.run(id, () =>
      transact(this.db, async () => {
        const [link, downloads] = await this.db.reader.getMany<[LinkRecord, Deno.KvU64]>([
          keys.link(id),
          keys.linkDownloads(id),
        ]);
        // The limit may have been changed since the link was found.
        const limit = link.value?.maxDownloads ?? Infinity;
        if (link.value === null || countOf(downloads) >= limit) return { result: false };
        const operation = new Operation().unchanged(link, downloads)
          .sum(downloads.key, 1);
        return { operation, result: true };
      }));
  }

  /**
   * Returns what proves that a browser has sent the password of a link: the end of that proof, in seconds since 1970, and
   * a signature of the link, its password and that time.
   */
  async proofOf(link: OpenLink): Promise<string> {
    const end = Math.floor((Date.now() + UNLOCKED_TIME) / 1000);
    return `${end}.${(await this.#signing.find()).sign("cookie", proofText(link, end))}`;
  }

  /** Returns whether a text, which may be any, proves that its sender has sent the password of a link. */
  async isProof(link: OpenLink, text: string): Promise<boolean> {
    const [, end = "", signature = ""] = /^(\d{1,12})\.([\w-]+)$/.exec(text) ?? [];
    const signing = await this.#signing.find();
    return signing.verify("cookie", proofText(link, Number(end)), signature) &&
      Number(end) * 1000 > Date.now();
  }

  /** Stores the counts of downloads. */
  async close(): Promise<void> {
    await this.#counts.close();
  }

  async #requireRoom(project: string): Promise<void> {
    const prefix = prefixes.all("drive_link", project);
    const options = { limit: MAX_LINKS, batchSize: MAX_LIST_BATCH };
    let count = 0;
    for await (const _ of this.db.reader.list({ prefix }, options)) count++;
    if (count >= MAX_LINKS) throw new TooManyLinks(MAX_LINKS);
  }

  /** Reads those of the links that are alive. */
  async #readAll(ids: readonly string[], signing: SigningKey): Promise<LinkInfo[]> {
    const { reader } = this.db;
    const records = await readMany<LinkRecord>(reader, ids.map(keys.link));
    const counts = await readMany<Deno.KvU64>(reader, ids.map(keys.linkDownloads));
    return records.flatMap(({ value }, index) => {
      const [id = "", downloads] = [ids[index], counts[index]];
      if (value === null || value.keyId !== signing.id || hasExpired(value)) return [];
      return [{ ...value, id, token: signing.tokenOf(id), downloads: countOf(downloads) }];
    });
  }

  async #read(id: string): Promise<ReadLink | undefined> {
    const [{ value: record, versionstamp }, downloads] = await this.db.reads
      .get<[LinkRecord, Deno.KvU64]>([keys.link(id), keys.linkDownloads(id)]);
    if (record === null) return undefined;
    const { project, projectCreated, maxDownloads = Infinity } = record;
    const isUsedUp = countOf(downloads) >= maxDownloads;
    return { id, record, versionstamp, project, projectCreated, isUsedUp };
  }

  /**
   * Deletes an expired link, so that a system clock that is set back does not revive it, unless another process gave it
   * another deadline. Does not wait for that.
   */
  #expire({ id, record, versionstamp }: ReadLink): void {
    const operation = new Operation().check(keys.link(id), versionstamp);
    deleteLink(operation, { id, ...record });
    this.#expired.add(id);
    const forget = () => void this.#expired.delete(id);
    // If this fails, the next request tries it again, and the sweeper deletes the link as well.
    this.db.commit(operation).then(forget, forget);
  }

  /**
   * Makes every refusal read as much: the link, then the file that it leads to. Otherwise the time would tell whether a
   * link is unknown, was revoked, or has lost its file.
   */
  async #equalize(
    id: string,
    { wasCached, isFileRead }: { wasCached: boolean; isFileRead: boolean },
  ): Promise<void> {
    this.#cache.forget(id);
    if (wasCached) await this.#read(id);
    if (isFileRead) return;
    const nowhere = { project: "", drive: "", name: "" };
    await this.db.reads.getReferenced(keys.file(nowhere), () => undefined);
  }
}

function hasExpired({ expires = Infinity }: LinkRecord): boolean {
  return expires <= Date.now();
}

function countOf(counter: Deno.KvEntryMaybe<Deno.KvU64> | undefined): number {
  return Number(counter?.value?.value ?? 0n);
}

function proofText({ id, record: { password } }: OpenLink, end: number): string {
  return [id, password?.hash, end].join("\0");
}
