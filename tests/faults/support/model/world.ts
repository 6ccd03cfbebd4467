import type { Answer } from "../../../support/answer.ts";
import { Drive } from "../../../support/drive.ts";
import type { TestServer } from "../../../support/server.ts";
import { type Call, History, type Outcome } from "./history.ts";
import { type BodyId, newNumber } from "./state.ts";

/** A name in a drive. */
export interface FileRef {
  drive: string;
  name: string;
}

/** A write of a file, identified by its content type: the sizes of its bodies, and the bodies sent for each. */
export interface Source {
  id: string;
  plan: readonly number[];
  sent: BodyId[][];
}

/** A multipart upload that clients can use. */
export interface KnownUpload extends Source {
  uploadId: string;
}

/** The entity tag of a version. */
export interface Tag {
  etag: string;
  source: string;
}

/** A request, and the meaning of its response for each of its names. */
export interface Step {
  request: string;
  refs: readonly FileRef[];
  send(drive: Drive): Promise<Answer>;
  outcomeOf(answer: Answer, ref: FileRef): Outcome;
  /** Its effect without a response, if it took effect. */
  lost(ref: FileRef): Outcome | undefined;
}

/** Uploads per name that clients use. A further one replaces the oldest. */
export const UPLOADS_PER_NAME = 3;

/** Statuses of requests that the store cannot serve. */
const STORE_FAILURES = new Set([503, 507]);

/** The effect of a rejected request. */
const UNCHANGED: Outcome = { text: "rejected", effect: (state) => state, pure: true };

/** The clients' knowledge of the server, and the histories of all names. */
export class World {
  servers: readonly TestServer[] = [];
  /** Set when the servers are killed: from then on requests may remain without a response. */
  isKilled = false;
  /** Set while the disk fails: requests may be rejected with 503 or 507, or break off. */
  mayFail = false;
  /** Rejections that change nothing, as a request's kind and a status. */
  refusals: ReadonlySet<string> = new Set();
  /** Requests that a kill left without a response. */
  unanswered = 0;
  /** The numbers of responses by the kind of request and the status. */
  readonly seen = new Map<string, number>();
  readonly #sources = new Map<string, Source>();
  readonly #uploads = new Map<string, KnownUpload[]>();
  readonly #tags = new Map<string, string>();
  /** The tags of versions that were copied. Each copy has a tag of its own. */
  readonly #copied = new Map<string, string>();
  readonly #lastTags = new Map<string, Tag>();
  readonly #histories = new Map<string, History>();

  constructor(readonly refs: readonly FileRef[]) {
    for (const ref of refs) this.#histories.set(keyOf(ref), new History(keyOf(ref)));
  }

  get drives(): string[] {
    return [...new Set(this.refs.map(({ drive }) => drive))];
  }

  refsOf(drive: string): FileRef[] {
    return this.refs.filter((ref) => ref.drive === drive);
  }

  newSource(kind: "put" | "upload", plan: readonly number[]): Source {
    const source = { id: `${kind}-${newNumber()}`, plan, sent: plan.map(() => []) };
    this.#sources.set(source.id, source);
    return source;
  }

  source(id: string): Source {
    const source = this.#sources.get(id);
    if (source === undefined) throw new Error(`There was no write ${id}`);
    return source;
  }

  /** Records that a version is about to be copied. */
  noteCopy({ source, etag }: Tag): void {
    this.#copied.set(source, etag);
  }

  /** Returns whether a tag is that of a copy of a version. */
  isCopy(source: string, etag: string): boolean {
    return (this.#copied.get(source) ?? etag) !== etag;
  }

  /** @throws {Error} if the tag belonged to another version, or the version had another tag. */
  noteTag(ref: FileRef, etag: string, source: string): void {
    for (const [a, b] of [[etag, source], [source, etag]] as const) {
      const known = this.#tags.get(a);
      if (known !== undefined && known !== b) {
        throw new Error(`${a} was ${known} before and is ${b} now`);
      }
      this.#tags.set(a, b);
    }
    this.#lastTags.set(keyOf(ref), { etag, source });
  }

  lastTag(ref: FileRef): Tag {
    return this.#lastTags.get(keyOf(ref)) ?? { etag: "never-seen", source: "none" };
  }

  uploads(ref: FileRef): readonly KnownUpload[] {
    return this.#uploads.get(keyOf(ref)) ?? [];
  }

  addUpload(ref: FileRef, upload: KnownUpload): void {
    this.#uploads.set(keyOf(ref), [...this.uploads(ref), upload].slice(-UPLOADS_PER_NAME));
  }

  /** Sends a request, and records its response in the histories. */
  async perform(step: Step, client = 0): Promise<void> {
    const server = this.servers[client % this.servers.length];
    if (server === undefined) throw new Error("There is no server");
    const drive = new Drive(server, step.refs[0]?.drive ?? "");
    const calls = step.refs.map((ref) => this.#history(ref).begin(step.request));
    const answer = await this.#send(step, drive);
    const isRejected = this.refusals.has(`${step.request.split(" ")[0]} ${answer?.status}`);
    const interpreted = isRejected ? { ...step, outcomeOf: () => UNCHANGED } : step;
    for (const [i, call] of calls.entries()) this.#record(interpreted, step.refs[i], call, answer);
  }

  async #send(step: Step, drive: Drive): Promise<Answer | undefined> {
    try {
      const answer = await step.send(drive);
      const what = `${step.request.split(" ")[0]} ${answer.status}`;
      this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
      return this.mayFail && STORE_FAILURES.has(answer.status) ? undefined : answer;
    } catch (error) {
      if (this.isKilled || this.mayFail) {
        this.unanswered++;
        return undefined;
      }
      throw new Error(`No response to: ${step.request}`, { cause: error });
    }
  }

  #record(step: Step, ref: FileRef | undefined, call: Call, answer: Answer | undefined): void {
    if (ref === undefined) return;
    const history = this.#history(ref);
    if (answer === undefined) history.lose(call, step.lost(ref));
    else history.end(call, step.outcomeOf(answer, ref));
    if (history.isQuiet) history.forget(new Set(this.uploads(ref).map(({ id }) => id)));
  }

  #history(ref: FileRef): History {
    const history = this.#histories.get(keyOf(ref));
    if (history === undefined) throw new Error(`${keyOf(ref)} is not one of the names`);
    return history;
  }
}

function keyOf({ drive, name }: FileRef): string {
  return `${drive}/${name}`;
}

/** Returns the error for a response that is wrong in every state. */
export function unexpected(answer: Answer, request: string): Error {
  return new Error(`Status ${answer.status} of: ${request}: ${answer.text.slice(0, 300)}`);
}
