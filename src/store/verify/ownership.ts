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

/** Things without an owner that are held against the list of what is to be removed in one go. */
const VERIFY_BATCH = 10_000;

/** Tells whose the chunks of a version are. Asked in the order of the store, it remembers what it needs. */
export class VersionOwners {
  readonly #snapshot: Snapshot;
  #drive: { id: string; uploads: Map<string, string[]> } | undefined;
  #name: { id: string; sizes: Map<string, number> } | undefined;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * How many bytes of a version belong to a file, to a part of an open upload or to a list of parts; `undefined` where
   * none does.
   */
  sizeOf(place: Place, version: string): number | undefined {
    return this.#sizesOf(place).get(version);
  }

  #sizesOf(place: Place): Map<string, number> {
    const id = JSON.stringify([place.project, place.drive, place.name]);
    if (this.#name?.id !== id) this.#name = { id, sizes: this.#collect(place) };
    return this.#name.sizes;
  }

  #collect(place: Place): Map<string, number> {
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

  /** The open uploads of a file. */
  #uploadsOf({ project, drive, name }: Place): readonly string[] {
    const id = JSON.stringify([project, drive]);
    if (this.#drive?.id !== id) {
      const uploads = new Map<string, string[]>();
      const all = prefixes.ofDrive("upload", project, drive);
      for (const { key, value } of this.#snapshot.list<UploadSession>(all)) {
        const same = uploads.get(value.name) ?? [];
        same.push(String(key.at(-1)));
        uploads.set(value.name, same);
      }
      this.#drive = { id, uploads };
    }
    return this.#drive.uploads.get(name) ?? [];
  }
}

/** By what garbage names things. */
export const garbageIdOf = {
  chunks: (project: string, drive: string, name: string, version: string): string =>
    JSON.stringify(["chunks", project, drive, name, version]),
  manifest: (project: string, drive: string, name: string, file: string): string =>
    JSON.stringify(["manifest", project, drive, name, file]),
  upload: (project: string, drive: string, id: string): string =>
    JSON.stringify(["upload", project, drive, id]),
};

/**
 * Things that nobody needs, unless they are to be removed anyway. They are held against the list of what is to be removed
 * many at a time, as that list has another order.
 */
export class OrphanCandidates {
  readonly #snapshot: Snapshot;
  readonly #waiting = new Map<string, Problem[]>();
  #count = 0;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /** @param id By what garbage would name it. */
  *add(id: string, problem: Problem): Generator<Problem> {
    const same = this.#waiting.get(id) ?? [];
    same.push(problem);
    this.#waiting.set(id, same);
    if (++this.#count >= VERIFY_BATCH) yield* this.rest();
  }

  /** Those that are not to be removed, of all that were added since. */
  *rest(): Generator<Problem> {
    if (this.#count === 0) return;
    for (const { value } of this.#snapshot.list<Garbage>(prefixes.all("garbage"))) {
      for (const id of this.#named(value)) this.#waiting.delete(id);
    }
    for (const problems of this.#waiting.values()) yield* problems;
    this.#waiting.clear();
    this.#count = 0;
  }

  *#named(garbage: Garbage): Generator<string> {
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

/** Whether a project, or a drive of it, is being removed: what it has is there in part then, and the sweeper goes on. */
export class PendingRemovals {
  readonly #snapshot: Snapshot;
  readonly #projects = new Map<string, boolean>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  hasProject(project: string): boolean {
    const known = this.#projects.get(project);
    if (known !== undefined) return known;
    const found = this.#snapshot.has(keys.projectDeletion(project));
    // One after another is asked for: the last one is enough.
    this.#projects.clear();
    this.#projects.set(project, found);
    return found;
  }

  hasDrive(project: string, drive: string): boolean {
    return this.hasProject(project) || this.#snapshot.has(keys.driveDeletion(project, drive));
  }

  hasApp(project: string, app: string): boolean {
    return this.hasProject(project) || this.#snapshot.has(keys.appDeletion(project, app));
  }
}
