import { MAX_PUBLISH_TRIES } from "../drive/limits.ts";
import type { Database } from "./database.ts";
import { StoreUnavailable } from "./errors.ts";
import { keys } from "./keys.ts";
import type { KnownProjects } from "./known_projects.ts";
import { Operation } from "./operation.ts";
import type { Quotas } from "./quotas.ts";
import type { Garbage, UploadSession } from "./records.ts";
import { endSession } from "./upload_session.ts";

/** The entry that ends an upload when its time is over. */
export type UploadDeadline = Deno.KvEntry<Garbage & { kind: "upload" }>;

/** Ends an upload without a file; gives `false` where it was completed or ended meanwhile. */
export type EndUpload = (deadline: UploadDeadline) => Promise<boolean>;

/**
 * Ends uploads that were aborted or whose time is over: one commit ends the session, so that no part comes afterwards, and
 * gives back what it counted for. The entry of the deadline stays until the parts are removed, too.
 */
export class OverdueUploads {
  readonly #db: Database;
  readonly #projects: KnownProjects;
  readonly #quotas: Quotas;

  constructor(db: Database, projects: KnownProjects, quotas: Quotas) {
    this.#db = db;
    this.#projects = projects;
    this.#quotas = quotas;
  }

  readonly end: EndUpload = async ({ key, value, versionstamp }) => {
    const { project, drive, id } = value;
    for (let tries = 0; tries < MAX_PUBLISH_TRIES; tries++) {
      const known = await this.#projects.find(project);
      const [deadline, session, revision] = await this.#db.reads.get<
        [Garbage, UploadSession, Deno.KvU64]
      >([key, keys.upload(project, drive, id), keys.partsRevision(project, drive, id)]);
      if (deadline.versionstamp !== versionstamp) return false;
      // Only its parts are left.
      if (session.value === null && revision.value === null) return true;
      const operation = new Operation().check(key, versionstamp);
      const bytes = session.value === null ? 0 : endSession(operation, value, {
        key: session.key,
        versionstamp: session.versionstamp,
        session: session.value,
      }, revision);
      if (session.value === null) operation.delete(revision.key);
      if (known !== undefined) operation.share(known.unchanged);
      // What is being removed does not count against a quota any more.
      const counts = known !== undefined && !known.removing.includes(drive);
      const { ok } = counts
        ? await this.#quotas.commit(known, value, operation, { more: -bytes })
        : await this.#db.commit(operation);
      if (ok) return true;
      this.#projects.forget(project);
    }
    throw new StoreUnavailable("The upload could not be ended: its project kept changing");
  };
}
