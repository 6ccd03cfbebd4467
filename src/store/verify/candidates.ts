import { VERIFY_BATCH } from "../../drive/limits.ts";
import { prefixes } from "../keys.ts";
import type { Garbage, PartRecord } from "../records.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Problem } from "./problem.ts";

/** By what garbage names things. */
export const idOf = {
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
export class Candidates {
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
        return yield idOf.chunks(project, drive, name, garbage.version);
      case "manifest":
        return yield idOf.manifest(project, drive, name, garbage.file);
      case "parts":
        return yield idOf.upload(project, drive, garbage.id);
      case "upload": {
        yield idOf.upload(project, drive, garbage.id);
        const parts = prefixes.parts(project, drive, garbage.id);
        for (const { value } of this.#snapshot.list<PartRecord>(parts)) {
          yield idOf.chunks(project, drive, name, value.version);
        }
      }
    }
  }
}
