import { keys } from "../keys.ts";
import type { Snapshot } from "../snapshot.ts";

/** Whether a project, or a drive of it, is being removed: what it has is there in part then, and the sweeper goes on. */
export class Removals {
  readonly #snapshot: Snapshot;
  readonly #projects = new Map<string, boolean>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  hasProject(project: string): boolean {
    const known = this.#projects.get(project);
    if (known !== undefined) return known;
    const found = this.#snapshot.has(keys.projectRemoval(project));
    // One after another is asked for: the last one is enough.
    this.#projects.clear();
    this.#projects.set(project, found);
    return found;
  }

  hasDrive(project: string, drive: string): boolean {
    return this.hasProject(project) || this.#snapshot.has(keys.driveRemoval(project, drive));
  }

  hasApp(project: string, app: string): boolean {
    return this.hasProject(project) || this.#snapshot.has(keys.appRemoval(project, app));
  }
}
