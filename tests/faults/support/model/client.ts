import { KIB, MIB, MIN_PART, PIECE } from "../../../support/bytes.ts";
import type { Random } from "../random.ts";
import {
  get,
  type Guard,
  list,
  ONLY_NEW,
  onlyOver,
  put,
  relocate,
  remove,
  UNGUARDED,
} from "./file_steps.ts";
import { abort, complete, look, sendPart, start } from "./upload_steps.ts";
import { type FileRef, type Step, UPLOADS_PER_NAME, type World } from "./world.ts";

/** The frequency of operations, and the sizes of their bodies. */
export interface Mix {
  steps: Readonly<Record<StepKind, number>>;
  /** Sizes of files. A repeated size is more frequent. */
  sizes: readonly number[];
  plans: readonly (readonly number[])[];
}

type StepKind =
  | "put"
  | "get"
  | "remove"
  | "removeMany"
  | "copy"
  | "move"
  | "list"
  | "look"
  | "start"
  | "part"
  | "complete"
  | "abort";

const SMALL = [0, 1, 100, 5000, PIECE - 1, PIECE];

/** Reads and writes. */
export const TRAFFIC: Mix = {
  steps: {
    put: 30,
    get: 26,
    remove: 5,
    removeMany: 2,
    copy: 8,
    move: 8,
    list: 3,
    look: 2,
    start: 5,
    part: 13,
    complete: 11,
    abort: 2,
  },
  sizes: [...SMALL, ...SMALL, ...SMALL, PIECE + 1, 200 * KIB, 200 * KIB, MIB + 7],
  plans: [
    [0],
    [1],
    [70_000],
    [70_000],
    [PIECE],
    [300, 200],
    [200 * KIB],
    [MIN_PART, 1],
    [MIN_PART, 70_000],
  ],
};

/** Mostly writes, many of them large. */
export const WRITES: Mix = {
  steps: { ...TRAFFIC.steps, put: 50, get: 4, list: 0, part: 20 },
  sizes: [...SMALL, PIECE + 1, 200 * KIB, 700 * KIB, MIB + 7, 2 * MIB, 5 * MIB],
  plans: [...TRAFFIC.plans, [MIN_PART, MIN_PART, 70_000], [5 * MIB, 3 * MIB]],
};

/** Chooses random operations on random names. */
export class Client {
  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly mix: Mix,
  ) {}

  next(): Step {
    // Some names are used more often than others.
    const { refs } = this.world;
    const at = Math.floor(refs.length * this.random.fraction() ** 2);
    const ref = refs[at] ?? this.random.pick(refs);
    return this.#step(this.random.weighted(this.mix.steps), ref);
  }

  #step(kind: StepKind, ref: FileRef): Step {
    switch (kind) {
      case "put":
        return put(this.world, ref, this.random.pick(this.mix.sizes), this.#guard(ref));
      case "get":
        return this.#get(ref);
      case "remove":
        return remove(this.world, [ref]);
      case "removeMany": {
        const refs = this.world.refsOf(ref.drive);
        const others = refs.filter((one) => one !== ref && this.random.fraction() < 0.2);
        return remove(this.world, [ref, ...others]);
      }
      case "copy":
      case "move":
        return this.#relocate(kind, ref);
      case "list":
        return list(this.world, ref.drive);
      default:
        return this.#uploadStep(kind, ref);
    }
  }

  #relocate(kind: "copy" | "move", from: FileRef): Step {
    const to = this.random.pick(this.world.refsOf(from.drive));
    const tag = this.world.lastTag(from);
    // Only of a write in one request is it known which bytes it has.
    if (to === from || !tag.source.startsWith("put-")) return this.#get(from);
    return relocate(this.world, kind, [from, to], tag);
  }

  #get(ref: FileRef): Step {
    const from = this.random.below(2) * this.random.below(300_000);
    const length = 1 + this.random.below(300_000);
    const range = this.random.pick([
      undefined,
      undefined,
      `bytes=${from}-`,
      `bytes=${from}-${from + length - 1}`,
      `bytes=-${length}`,
    ]);
    const tag = this.random.below(5) === 0 ? this.world.lastTag(ref) : undefined;
    return get(this.world, ref, range, tag);
  }

  #uploadStep(kind: "look" | "start" | "part" | "complete" | "abort", ref: FileRef): Step {
    const uploads = this.world.uploads(ref);
    const plan = this.random.pick(this.mix.plans);
    const chosen = this.random.below(UPLOADS_PER_NAME);
    const upload = uploads[chosen % Math.max(1, uploads.length)];
    const part = 1 + this.random.below(upload?.plan.length ?? 1);
    const guard = this.#guard(ref);
    const isHasty = this.random.below(4) === 0;
    if (upload === undefined || kind === "start") return start(this.world, ref, plan);
    if (kind === "look") return look(upload, ref);
    if (kind === "part") return sendPart(upload, ref, part);
    if (kind === "abort") return abort(upload, ref);
    // Most clients send all parts before the completion.
    const missing = upload.sent.findIndex((bodies) => bodies.length === 0);
    if (missing >= 0 && !isHasty) return sendPart(upload, ref, missing + 1);
    return complete(upload, ref, guard);
  }

  #guard(ref: FileRef): Guard {
    const choice = this.random.below(10);
    if (choice < 2) return ONLY_NEW;
    return choice < 5 ? onlyOver(this.world.lastTag(ref)) : UNGUARDED;
  }
}
