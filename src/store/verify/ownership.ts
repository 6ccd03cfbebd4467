/**
 * Lookups in a snapshot that several checks need: the owners of bytes, pending garbage, and running deletions.
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { keys, prefixes } from "../engine/keys.ts";
import {
  bytesVersion,
  type FileRecord,
  type Garbage,
  type Layout,
  type ManifestPage,
  type PartRecord,
  storedBytes,
  type TrashRecord,
} from "../engine/records.ts";
import type { Problem } from "./problem.ts";
import type { Snapshot } from "./snapshot.ts";

/** Orphan candidates that are held in memory before they are compared with the garbage. */
const MAX_CANDIDATES = 10_000;

/** What uses the bytes of a version. */
export interface Ownership {
  /** Bytes of the version. */
  size: number;
  kind: Layout["kind"];
  /** Files, released references, parts and lists of parts that use it. */
  users: number;
  /** How many of them are marked as sharing it. */
  marked: number;
}

const COLUMNS = "size, kind, users, marked";

/**
 * What uses each version, in a temporary table on the disk, as a store may have more versions than memory. (Deno opens no
 * temporary database, whose path is empty, without all permissions.)
 */
export class VersionOwners implements Disposable {
  readonly #sqlite = new DatabaseSync(":memory:");
  readonly #find: StatementSync;
  readonly #add: StatementSync;

  constructor(snapshot: Snapshot) {
    this.#sqlite.exec(
      "PRAGMA temp_store = FILE; CREATE TEMP TABLE owner (version TEXT PRIMARY KEY, size INT, kind TEXT, users INT, marked INT)" +
        " WITHOUT ROWID; BEGIN",
    );
    this.#find = this.#sqlite.prepare(`SELECT ${COLUMNS} FROM owner WHERE version = ?`);
    this.#add = this.#sqlite.prepare(
      "INSERT INTO owner VALUES (?, ?, ?, 1, ?) ON CONFLICT (version) DO UPDATE " +
        "SET users = users + 1, marked = marked + excluded.marked",
    );
    this.#collect(snapshot);
  }

  /** Returns what uses a version; `undefined` if nothing does. */
  of(version: string): Ownership | undefined {
    return this.#find.get(version) as Ownership | undefined;
  }

  /** Returns the bytes of a version of this kind that something uses; `undefined` if nothing does. */
  ownedSize(version: string, kind: Layout["kind"]): number | undefined {
    const owner = this.of(version);
    return owner?.kind === kind ? owner.size : undefined;
  }

  /** Yields the versions that more than one record uses, or that a record says it shares. */
  *shared(): Generator<Ownership & { version: string }> {
    const rows = this.#sqlite.prepare(
      `SELECT version, ${COLUMNS} FROM owner WHERE users > 1 OR marked > 0 ORDER BY version`,
    );
    for (const row of rows.iterate()) yield row as unknown as Ownership & { version: string };
  }

  #collect(snapshot: Snapshot): void {
    for (const { value } of snapshot.list<FileRecord>(prefixes.all("file"))) {
      this.#addRecord(value);
    }
    for (const { value: { record } } of snapshot.list<TrashRecord>(prefixes.all("trash"))) {
      this.#addRecord(record);
    }
    for (const { value } of snapshot.list<Garbage>(prefixes.all("garbage"))) {
      if (value.kind !== "reference") continue;
      this.#addOwner(value.version, value.size, value.layout.kind, true);
    }
    for (const { value } of snapshot.list<ManifestPage>(prefixes.all("manifest"))) {
      value.versions.forEach((version, i) =>
        this.#addOwner(version, value.sizes[i] ?? 0, "chunks")
      );
    }
    for (const head of snapshot.heads(prefixes.all("part"), 4)) {
      const [, project = "", drive = "", id = ""] = head.map(String);
      if (!snapshot.has(keys.upload(project, drive, id))) continue;
      for (const { value } of snapshot.list<PartRecord>(head)) {
        this.#addOwner(value.version, value.size, "chunks");
      }
    }
  }

  #addRecord(record: FileRecord): void {
    for (const bytes of storedBytes(record)) {
      const { size, layout, shared } = bytes;
      this.#addOwner(bytesVersion(bytes), size, layout?.kind, shared);
    }
  }

  #addOwner(version: string, size: number, kind: Layout["kind"] | undefined, shared?: true): void {
    this.#add.run(version, size, kind ?? "", shared === undefined ? 0 : 1);
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }
}

/** The identities of things that garbage can name. */
export const garbageIdOf = {
  chunks: (version: string): string => JSON.stringify(["chunks", version]),
  manifest: (version: string): string => JSON.stringify(["manifest", version]),
  upload: (project: string, drive: string, id: string): string =>
    JSON.stringify(["upload", project, drive, id]),
};

/**
 * Things without an owner, which are orphans unless the garbage lists them for deletion. The garbage is sorted by time,
 * so many candidates are compared with it in one pass.
 */
export class OrphanCandidates {
  readonly #waiting = new Map<string, Problem[]>();
  #count = 0;

  constructor(private readonly snapshot: Snapshot) {}

  /**
   * Adds a candidate, and yields the problems of candidates that turn out to be orphans.
   *
   * @param id One of `garbageIdOf`.
   */
  *add(id: string, problem: Problem): Generator<Problem> {
    const problems = this.#waiting.get(id) ?? [];
    problems.push(problem);
    this.#waiting.set(id, problems);
    if (++this.#count >= MAX_CANDIDATES) yield* this.flush();
  }

  /** Yields the problems of all orphans among the candidates that were added since the last pass. */
  *flush(): Generator<Problem> {
    if (this.#count === 0) return;
    for (const { value } of this.snapshot.list<Garbage>(prefixes.all("garbage"))) {
      for (const id of this.#idsIn(value)) this.#waiting.delete(id);
    }
    for (const problems of this.#waiting.values()) yield* problems;
    this.#waiting.clear();
    this.#count = 0;
  }

  *#idsIn(garbage: Garbage): Generator<string> {
    const { project, drive } = garbage;
    switch (garbage.kind) {
      case "chunks":
        return yield garbageIdOf.chunks(garbage.version);
      case "manifest":
        return yield garbageIdOf.manifest(garbage.version);
      case "parts":
      case "upload": {
        yield garbageIdOf.upload(project, drive, garbage.id);
        if (garbage.kind === "parts" && garbage.unused === undefined) return;
        // Used parts have an owner, so that they are no candidates.
        const parts = prefixes.all("part", project, drive, garbage.id);
        for (const { value } of this.snapshot.list<PartRecord>(parts)) {
          yield garbageIdOf.chunks(value.version);
        }
      }
    }
  }
}

/**
 * Tells which projects, drives and applications are being deleted: their data is incomplete, and the sweeper removes
 * the rest.
 */
export class PendingDeletions {
  constructor(private readonly snapshot: Snapshot) {}

  hasProject(project: string): boolean {
    return this.snapshot.has(keys.projectDeletion(project));
  }

  hasDrive(project: string, drive: string): boolean {
    return this.hasProject(project) || this.snapshot.has(keys.driveDeletion(project, drive));
  }

  hasApp(project: string, app: string): boolean {
    return this.hasProject(project) || this.snapshot.has(keys.appDeletion(project, app));
  }
}
