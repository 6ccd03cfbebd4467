import { MAX_COMMIT_BYTES, RECLAIM_BATCH } from "../drive/limits.ts";
import type { Database } from "./database.ts";
import { decide } from "./decide.ts";
import { keys, prefixes } from "./keys.ts";
import type { KnownProjects } from "./known_projects.ts";
import { Operation } from "./operation.ts";
import type { ProjectRecord, RemovalMarker } from "./records.ts";
import { setProject } from "./quota_account.ts";
import { removalSteps } from "./removal.ts";

type Marker = Deno.KvEntry<RemovalMarker>;

/**
 * Does what a removal has begun, in operations short enough not to hold up requests. Each demands that the marker of the
 * removal stands, so all can be repeated, here and in other processes: what is made anew afterwards is never touched.
 */
export class Remover {
  readonly #db: Database;
  readonly #projects: KnownProjects;
  #stopped = false;

  constructor(db: Database, projects: KnownProjects) {
    this.#db = db;
    this.#projects = projects;
  }

  /** Does all removals that were begun and not finished. */
  async runAll(): Promise<void> {
    const markers = this.#db.reader.list<RemovalMarker>({ prefix: prefixes.removals() });
    for await (const { key } of markers) await this.run(key);
  }

  /** Does one removal to its end, if it has not ended. */
  async run(key: Deno.KvKey): Promise<void> {
    const entry = await this.#db.reader.get<RemovalMarker>(key);
    if (entry.value === null || !await this.#removeAll(entry)) return;
    await this.#finish(entry);
  }

  /** Ends what runs after the step that is being done. The next start goes on there. */
  stop(): void {
    this.#stopped = true;
  }

  /** Gives `false` where it came not to its end: it is stopped, or somebody else was quicker. */
  async #removeAll(marker: Marker): Promise<boolean> {
    let batch = demandMarker(marker);
    let steps = 0;
    for await (const step of removalSteps(this.#db.reader, marker)) {
      if (this.#stopped) return false;
      if (
        steps >= RECLAIM_BATCH || !batch.hasRoomFor(step, MAX_COMMIT_BYTES, this.#db.commits.checks)
      ) {
        if (!(await this.#db.commitBulk(batch)).ok) return false;
        batch = demandMarker(marker);
        steps = 0;
      }
      batch.add(step);
      steps++;
    }
    return steps === 0 || (await this.#db.commitBulk(batch)).ok;
  }

  async #finish(marker: Marker): Promise<void> {
    const project = String(marker.key[1]);
    if (marker.value.kind === "drive") await this.#finishDrive(marker, project);
    else await this.#db.commit(demandMarker(marker).delete(marker.key));
    this.#projects.forget(project);
  }

  async #finishDrive(marker: Marker, project: string): Promise<void> {
    const drive = String(marker.key.at(-1));
    await decide(this.#db, async () => {
      const [stands, owner] = await this.#db.reader.getMany<[RemovalMarker, ProjectRecord]>([
        marker.key,
        keys.project(project),
      ]);
      if (stands.versionstamp !== marker.versionstamp) return { result: undefined };
      const operation = demandMarker(marker).delete(marker.key)
        .check(owner.key, owner.versionstamp);
      if (owner.value !== null) setProject(operation, project, withoutDrive(owner.value, drive));
      return { operation, result: undefined };
    });
  }
}

function demandMarker({ key, versionstamp }: Marker): Operation {
  return new Operation().check(key, versionstamp);
}

function withoutDrive({ removing = [], ...record }: ProjectRecord, drive: string): ProjectRecord {
  const others = removing.filter((name) => name !== drive);
  return others.length === 0 ? record : { ...record, removing: others };
}
