import { MIB, MIN_PART, patternBytes } from "../../../support/bytes.ts";

/** What all bodies are cut from: the place tells them apart. */
const BASE = patternBytes(16 * MIB, 20_211_122);
const PLACES = 8 * MIB;

let count = 0;

/** A body that was never sent before: `<number>:<bytes>`, from which its bytes follow. */
export type BodyId = string;

export function newNumber(): number {
  return ++count;
}

export function newBody(size: number): BodyId {
  return `${newNumber()}:${size}`;
}

export function sizeOf(body: BodyId): number {
  return Number(body.split(":")[1]);
}

export function bytesOf(body: BodyId): Uint8Array<ArrayBuffer> {
  const [number, size] = body.split(":").map(Number);
  // The factor has no common divisor with the number of places, so no two bodies of a run begin at the same.
  const start = ((number ?? 0) * 251) % PLACES;
  return BASE.subarray(start, start + (size ?? 0));
}

/** What a name shows: who wrote it, and the bodies that it is made of. */
export interface Version {
  /** The write, as the content type says that it came with. */
  source: string;
  bodies: readonly BodyId[];
}

/** The parts of an open upload by their numbers, or that it became the file. An aborted one is not there. */
export type UploadState = "completed" | Readonly<Record<number, BodyId>>;

/** All that the server knows under one name. It is never changed: an operation gives a new one. */
export interface State {
  file: Version | undefined;
  uploads: Readonly<Record<string, UploadState>>;
}

export const EMPTY: State = { file: undefined, uploads: {} };

/**
 * What an operation with a certain answer does: the state after it, the same object if it changes nothing, and
 * `undefined` in a state in which it cannot have been answered like that.
 */
export type Effect = (state: State) => State | undefined;

/** Whether a conditional write may go on. */
export type Condition = (file: Version | undefined) => boolean;

/** Two states are the same if and only if these texts are. */
export function textOf({ file, uploads }: State): string {
  const shown = file === undefined ? "no file" : `${file.source} of ${file.bodies.join(" + ")}`;
  const open = Object.entries(uploads).map(([id, upload]) => `${id}: ${JSON.stringify(upload)}`);
  return [shown, ...open.sort()].join("; ");
}

export function versionSize({ bodies }: Version): number {
  return bodies.reduce((sum, body) => sum + sizeOf(body), 0);
}

export function withFile(state: State, file: Version | undefined): State {
  return { ...state, file };
}

export function withUpload(state: State, id: string, upload: UploadState | undefined): State {
  const { [id]: _before, ...others } = state.uploads;
  return { ...state, uploads: upload === undefined ? others : { ...others, [id]: upload } };
}

/** The parts of an upload in their order; `undefined` where they don't make a file. */
export function joinParts(parts: Readonly<Record<number, BodyId>>): BodyId[] | undefined {
  const bodies = Object.values(parts);
  const hasGap = Object.keys(parts).some((part, i) => Number(part) !== i + 1);
  const hasSmall = bodies.slice(0, -1).some((body) => sizeOf(body) < MIN_PART);
  return hasGap || hasSmall ? undefined : bodies;
}
