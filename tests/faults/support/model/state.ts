import { MIB, MIN_PART, patternBytes } from "../../../support/bytes.ts";

/** The bytes that all bodies are slices of. Their positions differ. */
const BASE = patternBytes(16 * MIB, 20_211_122);
const PLACES = 8 * MIB;

let count = 0;

/** A unique body: `<number>:<bytes>`, which determines its content. */
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
  // The factor is coprime to the number of positions, so that all bodies of a run start at different ones.
  const start = ((number ?? 0) * 251) % PLACES;
  return BASE.subarray(start, start + (size ?? 0));
}

/** The visible version of a file: its write, and the bodies that it consists of. */
export interface Version {
  /** The write, identified by its content type. */
  source: string;
  bodies: readonly BodyId[];
}

/** The parts of an open upload by their numbers, or that it became the file. An aborted one is not there. */
export type UploadState = "completed" | Readonly<Record<number, BodyId>>;

/** The state of one name on the server. Immutable. */
export interface State {
  file: Version | undefined;
  uploads: Readonly<Record<string, UploadState>>;
}

export const EMPTY: State = { file: undefined, uploads: {} };

/**
 * The effect of an operation with a given response. Returns the state after it, the same object if nothing changes, or
 * `undefined` if this response is not possible in this state.
 */
export type Effect = (state: State) => State | undefined;

/** Whether a conditional write succeeds. */
export type Condition = (file: Version | undefined) => boolean;

/** Returns a text that is equal for equal states only. */
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

/** Returns the parts of an upload in order, or `undefined` if they are not valid for a completion. */
export function joinParts(parts: Readonly<Record<number, BodyId>>): BodyId[] | undefined {
  const bodies = Object.values(parts);
  const hasGap = Object.keys(parts).some((part, i) => Number(part) !== i + 1);
  const hasSmall = bodies.slice(0, -1).some((body) => sizeOf(body) < MIN_PART);
  return hasGap || hasSmall ? undefined : bodies;
}
