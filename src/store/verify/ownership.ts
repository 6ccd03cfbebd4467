/**
 * Lookups in a snapshot that several checks need: the owners of bytes, pending garbage, and running deletions.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import type {
  FileRecord,
  Garbage,
  ManifestPage,
  PartRecord,
  Place,
  UploadSession,
} from "../engine/records.ts";
import type { Problem } from "./problem.ts";
import type { Snapshot } from "./snapshot.ts";

/** Orphan candidates that are held in memory before they are compared with the garbage. */
const MAX_CANDIDATES = 10_000;

/**
 * Tells which chunks belong to something. It caches one drive and one file, so ask in the order of the store's keys.
 */
export class VersionOwners {
  readonly #snapshot: Snapshot;
  #drive: { id: string; uploads: Map<string, string[]> } | undefined;
  #file: { id: string; sizes: Map<string, number> } | undefined;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * Returns the bytes of a version that a file, a part of an open upload or a manifest owns; `undefined` if none does.
   */
  ownedSize(place: Place, version: string): number | undefined {
    const id = JSON.stringify([place.project, place.drive, place.name]);
    if (this.#file?.id !== id) this.#file = { id, sizes: this.#ownedSizes(place) };
    return this.#file.sizes.get(version);
  }

  #ownedSizes(place: Place): Map<string, number> {
    const sizes = new Map<string, number>();
    for (const id of this.#uploadsOf(place)) {
      const parts = prefixes.parts(place.project, place.drive, id);
      for (const { value } of this.#snapshot.list<PartRecord>(parts)) {
        sizes.set(value.version, value.size);
      }
    }
    for (const { value } of this.#snapshot.list<ManifestPage>(prefixes.manifests(place))) {
      value.versions.forEach((version, i) => sizes.set(version, value.sizes[i] ?? 0));
    }
    const file = this.#snapshot.get<FileRecord>(keys.file(place))?.value;
    if (file?.layout.kind === "chunks") sizes.set(file.layout.version, file.size);
    return sizes;
  }

  /** The ids of the open uploads of a file. */
  #uploadsOf({ project, drive, name }: Place): readonly string[] {
    const id = JSON.stringify([project, drive]);
    if (this.#drive?.id !== id) {
      const uploads = new Map<string, string[]>();
      const all = prefixes.ofDrive("upload", project, drive);
      for (const { key, value } of this.#snapshot.list<UploadSession>(all)) {
        const ids = uploads.get(value.name) ?? [];
        ids.push(String(key.at(-1)));
        uploads.set(value.name, ids);
      }
      this.#drive = { id, uploads };
    }
    return this.#drive.uploads.get(name) ?? [];
  }
}

/** The identities of things that garbage can name. */
export const garbageIdOf = {
  chunks: (project: string, drive: string, name: string, version: string): string =>
    JSON.stringify(["chunks", project, drive, name, version]),
  manifest: (project: string, drive: string, name: string, file: string): string =>
    JSON.stringify(["manifest", project, drive, name, file]),
  upload: (project: string, drive: string, id: string): string =>
    JSON.stringify(["upload", project, drive, id]),
};

/**
 * Things without an owner, which are orphans unless the garbage lists them for deletion. The garbage is sorted by time,
 * so many candidates are compared with it in one pass.
 */
export class OrphanCandidates {
  readonly #snapshot: Snapshot;
  readonly #waiting = new Map<string, Problem[]>();
  #count = 0;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

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
    for (const { value } of this.#snapshot.list<Garbage>(prefixes.all("garbage"))) {
      for (const id of this.#idsIn(value)) this.#waiting.delete(id);
    }
    for (const problems of this.#waiting.values()) yield* problems;
    this.#waiting.clear();
    this.#count = 0;
  }

  *#idsIn(garbage: Garbage): Generator<string> {
    const { project, drive, name } = garbage;
    switch (garbage.kind) {
      case "chunks":
        return yield garbageIdOf.chunks(project, drive, name, garbage.version);
      case "manifest":
        return yield garbageIdOf.manifest(project, drive, name, garbage.file);
      case "parts":
        return yield garbageIdOf.upload(project, drive, garbage.id);
      case "upload": {
        yield garbageIdOf.upload(project, drive, garbage.id);
        const parts = prefixes.parts(project, drive, garbage.id);
        for (const { value } of this.#snapshot.list<PartRecord>(parts)) {
          yield garbageIdOf.chunks(project, drive, name, value.version);
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
  readonly #snapshot: Snapshot;
  /** The last project that was asked for: the checks go through the store project by project. */
  #project: { id: string; isDeleted: boolean } | undefined;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  hasProject(project: string): boolean {
    if (this.#project?.id !== project) {
      const isDeleted = this.#snapshot.has(keys.projectDeletion(project));
      this.#project = { id: project, isDeleted };
    }
    return this.#project.isDeleted;
  }

  hasDrive(project: string, drive: string): boolean {
    return this.hasProject(project) || this.#snapshot.has(keys.driveDeletion(project, drive));
  }

  hasApp(project: string, app: string): boolean {
    return this.hasProject(project) || this.#snapshot.has(keys.appDeletion(project, app));
  }
}
