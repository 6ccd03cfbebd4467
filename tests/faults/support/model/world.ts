import type { Answer } from "../../../support/answer.ts";
import { Drive } from "../../../support/drive.ts";
import type { TestServer } from "../../../support/server.ts";
import { type Call, History, type Outcome } from "./history.ts";
import { type BodyId, newNumber } from "./state.ts";

/** A name in a drive. */
export interface Spot {
  drive: string;
  name: string;
}

/** A write of a file, as its content type names it: the sizes of its bodies, and what was sent for each. */
export interface Source {
  id: string;
  plan: readonly number[];
  sent: BodyId[][];
}

/** An upload in parts that clients may call. */
export interface KnownUpload extends Source {
  uploadId: string;
}

/** The entity tag of a version that was seen. */
export interface Tag {
  etag: string;
  source: string;
}

/** One request, and what its answer says about each of the names that it concerns. */
export interface Step {
  request: string;
  spots: readonly Spot[];
  send(drive: Drive): Promise<Answer>;
  judge(answer: Answer, spot: Spot): Outcome;
  /** What it has done, if anything, where no answer comes. */
  lost(spot: Spot): Outcome | undefined;
}

/** How many uploads of a name are called; a further one takes the place of one that is over. */
export const UPLOADS_A_NAME = 3;

/** What a request is answered with when the store cannot do it. */
const REFUSED_BY_STORE = new Set([503, 507]);

/** What a request that was refused has done. */
const UNCHANGED: Outcome = { text: "refused", effect: (state) => state, pure: true };

/** What the clients know of the server, and the histories of all names. */
export class World {
  servers: readonly TestServer[] = [];
  /** Set where the servers are killed: requests may remain without an answer from then on. */
  isKilled = false;
  /** Set while the store fails below the server: requests may be refused with 503 or 507, or break off. */
  mayFail = false;
  /** What may be refused and changes nothing then: the kind of a request and a status. */
  refusals: ReadonlySet<string> = new Set();
  /** Requests that a kill left without an answer. */
  unanswered = 0;
  /** Answers by what was asked for and their status, for those who want to know what a run covered. */
  readonly seen = new Map<string, number>();
  readonly #sources = new Map<string, Source>();
  readonly #uploads = new Map<string, KnownUpload[]>();
  readonly #tags = new Map<string, string>();
  readonly #lastTags = new Map<string, Tag>();
  readonly #histories = new Map<string, History>();

  constructor(readonly spots: readonly Spot[]) {
    for (const spot of spots) this.#histories.set(keyOf(spot), new History(keyOf(spot)));
  }

  get drives(): string[] {
    return [...new Set(this.spots.map(({ drive }) => drive))];
  }

  spotsOf(drive: string): Spot[] {
    return this.spots.filter((spot) => spot.drive === drive);
  }

  newSource(kind: "put" | "upload", plan: readonly number[]): Source {
    const source = { id: `${kind}-${newNumber()}`, plan, sent: plan.map(() => []) };
    this.#sources.set(source.id, source);
    return source;
  }

  source(id: string): Source {
    const source = this.#sources.get(id);
    if (source === undefined) throw new Error(`Nobody has written ${id}`);
    return source;
  }

  /** @throws {Error} if the tag was one of another version, or the version had another tag. */
  noteTag(spot: Spot, etag: string, source: string): void {
    for (const [a, b] of [[etag, source], [source, etag]] as const) {
      const known = this.#tags.get(a);
      if (known !== undefined && known !== b) throw new Error(`${a} is ${known}, and now ${b}`);
      this.#tags.set(a, b);
    }
    this.#lastTags.set(keyOf(spot), { etag, source });
  }

  lastTag(spot: Spot): Tag {
    return this.#lastTags.get(keyOf(spot)) ?? { etag: "never-seen", source: "nobody" };
  }

  uploads(spot: Spot): readonly KnownUpload[] {
    return this.#uploads.get(keyOf(spot)) ?? [];
  }

  addUpload(spot: Spot, upload: KnownUpload): void {
    this.#uploads.set(keyOf(spot), [...this.uploads(spot), upload].slice(-UPLOADS_A_NAME));
  }

  /** Sends a request and takes down what came of it. */
  async perform(step: Step, client = 0): Promise<void> {
    const server = this.servers[client % this.servers.length];
    if (server === undefined) throw new Error("There is no server");
    const drive = new Drive(server, step.spots[0]?.drive ?? "");
    const calls = step.spots.map((spot) => this.#history(spot).begin(step.request));
    const answer = await this.#send(step, drive);
    const isRefused = this.refusals.has(`${step.request.split(" ")[0]} ${answer?.status}`);
    const judged = isRefused ? { ...step, judge: () => UNCHANGED } : step;
    for (const [i, call] of calls.entries()) this.#takeDown(judged, step.spots[i], call, answer);
  }

  async #send(step: Step, drive: Drive): Promise<Answer | undefined> {
    try {
      const answer = await step.send(drive);
      const what = `${step.request.split(" ")[0]} ${answer.status}`;
      this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
      return this.mayFail && REFUSED_BY_STORE.has(answer.status) ? undefined : answer;
    } catch (error) {
      if (this.isKilled || this.mayFail) {
        this.unanswered++;
        return undefined;
      }
      throw new Error(`No answer to: ${step.request}`, { cause: error });
    }
  }

  #takeDown(step: Step, spot: Spot | undefined, call: Call, answer: Answer | undefined): void {
    if (spot === undefined) return;
    const history = this.#history(spot);
    if (answer === undefined) history.lose(call, step.lost(spot));
    else history.end(call, step.judge(answer, spot));
    if (history.isQuiet) history.forget(new Set(this.uploads(spot).map(({ id }) => id)));
  }

  #history(spot: Spot): History {
    const history = this.#histories.get(keyOf(spot));
    if (history === undefined) throw new Error(`${keyOf(spot)} is none of the names`);
    return history;
  }
}

function keyOf({ drive, name }: Spot): string {
  return `${drive}/${name}`;
}

/** An answer that the request must not get, whatever the state. */
export function unexpected(answer: Answer, request: string): Error {
  return new Error(`The answer ${answer.status} to: ${request}: ${answer.text.slice(0, 300)}`);
}
