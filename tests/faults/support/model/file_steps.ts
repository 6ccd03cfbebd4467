import { assertEquals } from "@std/assert";
import { equals } from "@std/bytes/equals";
import type { Answer } from "../../../support/answer.ts";
import { type Listing, query } from "../../../support/drive.ts";
import type { Outcome } from "./history.ts";
import {
  bytesOf,
  type Condition,
  type Effect,
  newBody,
  type Version,
  versionSize,
  withFile,
} from "./state.ts";
import { type FileRef, type Source, type Step, type Tag, unexpected, type World } from "./world.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Fits = (file: Version | undefined) => boolean;

/** Returns an effect that changes nothing and is possible for some states of the file only. */
function onlyIf(fits: Fits): Effect {
  return (state) => fits(state.file) ? state : undefined;
}

/** Returns the content type that identifies the write of a file. */
export function typeOf({ id }: Source): string {
  return `application/x-${id}`;
}

/** Returns how a version is called whose bytes were copied. */
function copyOf(source: string): string {
  return `copy of ${source}`;
}

/** A write that a response shows, and how the version is called. */
interface Shown {
  source: Source;
  version: string;
}

/** Returns the write that a response shows, and records the entity tag of the original. */
function writerOf(world: World, ref: FileRef, type: string, quoted: string): Shown {
  const source = world.source(type.replace("application/x-", ""));
  const etag = quoted.replaceAll('"', "");
  if (world.isCopy(source.id, etag)) return { source, version: copyOf(source.id) };
  world.noteTag(ref, etag, source.id);
  return { source, version: source.id };
}

/** Returns the version that a response with bytes shows. @throws {Error} if no client sent these bytes. */
function versionIn(world: World, ref: FileRef, answer: Answer): { text: string; fits: Fits } {
  const [type, etag] = [answer.header("Content-Type"), answer.header("ETag")];
  const { source, version } = writerOf(world, ref, type, etag);
  const { start, total } = rangeOf(answer);
  const bodies = bodiesIn(source, answer.bytes, start);
  const found = JSON.stringify(bodies.map((some) => some && [...some].join(" or ")));
  return {
    text: `${answer.status} ${version}, ${total} bytes, from ${start} on: ${found}`,
    fits: (file) =>
      file?.source === version && versionSize(file) === total &&
      file.bodies.every((body, i) => bodies[i]?.has(body) ?? true),
  };
}

/** Returns the position of a response's bytes in the file, and the file's size. */
function rangeOf(answer: Answer): { start: number; total: number } {
  const { length } = answer.bytes;
  if (answer.status === 200) return { start: 0, total: length };
  const range = answer.header("Content-Range");
  const [start, end, total] = (range.match(/\d+/g) ?? []).map(Number);
  if (start === undefined || end === undefined || total === undefined) throw new Error(range);
  if (end - start + 1 !== length) throw new Error(`${length} bytes with ${range}`);
  return { start, total };
}

/** Returns the sent bodies that the bytes match, or `undefined` for bodies outside of their range. */
function bodiesIn(source: Source, bytes: Bytes, start: number): (Set<string> | undefined)[] {
  let offset = -start;
  return source.plan.map((size, i) => {
    const from = Math.max(0, offset);
    const to = Math.min(bytes.length, offset + size);
    const cut = { from: from - offset, to: to - offset };
    offset += size;
    if (to <= from) return undefined;
    const seen = bytes.subarray(from, to);
    const sent = source.sent[i] ?? [];
    const same = sent.filter((body) => equals(bytesOf(body).subarray(cut.from, cut.to), seen));
    if (same.length > 0) return new Set(same);
    throw new Error(`Bytes ${from + start} to ${to + start} of ${source.id} were never sent`);
  });
}

/** Returns a check whether a version matches an entry of a list. */
function isListedAs({ version }: Shown, size: number): Fits {
  return (file) => file?.source === version && versionSize(file) === size;
}

/** A header that makes a write conditional, and its condition. */
export interface Guard {
  headers: Record<string, string>;
  holds: Condition;
}

export const UNGUARDED: Guard = { headers: {}, holds: () => true };

export const ONLY_NEW: Guard = {
  headers: { "If-None-Match": "*" },
  holds: (file) => file === undefined,
};

export function onlyOver({ etag, source }: Tag): Guard {
  return { headers: { "If-Match": `"${etag}"` }, holds: (file) => file?.source === source };
}

export function show(headers: Record<string, string>): string {
  return Object.entries(headers).map(([name, value]) => ` ${name}: ${value}`).join(",");
}

export function put(world: World, ref: FileRef, size: number, guard: Guard): Step {
  const body = newBody(size);
  const source = world.newSource("put", [size]);
  source.sent[0]?.push(body);
  const request = `put ${source.id} of ${body}${show(guard.headers)}`;
  const effect: Effect = (state) =>
    guard.holds(state.file) ? withFile(state, { source: source.id, bodies: [body] }) : undefined;
  return {
    request,
    refs: [ref],
    send: (drive) =>
      drive.send("POST", `/files${query({ name: ref.name })}`, {
        body: bytesOf(body),
        headers: { "Content-Type": typeOf(source), ...guard.headers },
      }),
    outcomeOf(answer): Outcome {
      if (answer.status === 201) return { text: "201", effect };
      if (answer.status === 412) return rejectedBy(guard);
      throw unexpected(answer, request);
    },
    lost: () => ({ text: "stored", effect }),
  };
}

function rejectedBy({ holds }: Guard): Outcome {
  return { text: "412", effect: onlyIf((file) => !holds(file)), pure: true };
}

/** Reads a file. @param range The value of the header Range. */
export function get(world: World, ref: FileRef, range: string | undefined, not?: Tag): Step {
  const headers = {
    ...(range === undefined ? {} : { "Range": range }),
    ...(not === undefined ? {} : { "If-None-Match": `"${not.etag}"` }),
  };
  const request = `get${show(headers)}`;
  return {
    request,
    refs: [ref],
    send: (drive) => drive.get(ref.name, headers),
    outcomeOf(answer): Outcome {
      const outcome = readOutcome(world, ref, answer, range, not);
      if (outcome === undefined) throw unexpected(answer, request);
      return outcome;
    },
    lost: () => undefined,
  };
}

function readOutcome(
  world: World,
  ref: FileRef,
  answer: Answer,
  range: string | undefined,
  not: Tag | undefined,
): Outcome | undefined {
  const { status } = answer;
  // A suffix range of an empty file is the whole file.
  const isWhole = range === undefined || range.startsWith("bytes=-") && answer.bytes.length === 0;
  if (status === (isWhole ? 200 : 206)) {
    const { text, fits } = versionIn(world, ref, answer);
    // A file with the given tag would have been 304.
    return {
      text,
      effect: onlyIf((file) => fits(file) && file?.source !== not?.source),
      pure: true,
    };
  }
  if (status === 404) return { text: "404", effect: onlyIf((file) => !file), pure: true };
  if (status === 304 && not !== undefined) {
    return { text: "304", effect: onlyIf((file) => file?.source === not.source), pure: true };
  }
  if (status !== 416 || range === undefined) return undefined;
  const total = Number(answer.header("Content-Range").replace("bytes */", ""));
  const first = /=(\d+)/.exec(range)?.[1];
  if (total > Number(first ?? 0)) return undefined;
  const effect = onlyIf((file) => file !== undefined && versionSize(file) === total);
  return { text: `416 of ${total}`, effect, pure: true };
}

export function remove(world: World, refs: readonly FileRef[]): Step {
  const names = refs.map(({ name }) => name);
  const request = `delete ${names.join(", ")}`;
  const outcome: Outcome = { text: "deleted", effect: (state) => withFile(state, undefined) };
  return {
    request,
    refs,
    send: (drive) => drive.send("DELETE", "/files", { body: JSON.stringify({ names }) }),
    outcomeOf(answer, ref): Outcome {
      const { deleted, failed } = answer.expect(200).json as Record<string, string[]>;
      if (failed === undefined || failed.length > 0 && !world.mayFail) {
        throw unexpected(answer, request);
      }
      assertEquals(deleted, names.filter((name) => !failed.includes(name)), request);
      // If the record cannot be read, the server does not know whether the file exists.
      const stays: Outcome = { text: "failed", effect: (state) => state, pure: true };
      return failed.includes(ref.name) ? stays : outcome;
    },
    lost: () => outcome,
  };
}

/** Copies or moves a version that one request wrote, if the source has it, over any target. */
export function relocate(
  world: World,
  kind: "copy" | "move",
  [from, to]: readonly [FileRef, FileRef],
  tag: Tag,
): Step {
  const body = world.source(tag.source).sent[0]?.[0] ?? "";
  const request = `${kind} ${tag.source} from ${from.name} to ${to.name}`;
  const isCopy = kind === "copy";
  if (isCopy) world.noteCopy(tag);
  const version: Version = { source: isCopy ? copyOf(tag.source) : tag.source, bodies: [body] };
  const isThere: Fits = (file) => file?.source === tag.source;
  const unchanged: Outcome = { text: "unchanged", effect: (state) => state, pure: true };
  const done = (ref: FileRef): Outcome => {
    if (ref === to) return { text: "target", effect: (state) => withFile(state, version) };
    if (isCopy) return { text: "copied", effect: onlyIf(isThere), pure: true };
    const effect: Effect = (state) => isThere(state.file) ? withFile(state, undefined) : undefined;
    return { text: "moved", effect };
  };
  return {
    request,
    refs: [from, to],
    send: (drive) =>
      drive.send("POST", `/files/${kind}`, {
        body: JSON.stringify({ from: from.name, to: to.name, overwrite: true }),
        headers: { "If-Match": `"${tag.etag}"` },
      }),
    outcomeOf(answer, ref): Outcome {
      const { status } = answer;
      if (status === (isCopy ? 201 : 200)) return done(ref);
      if (status !== 404 && status !== 412) throw unexpected(answer, request);
      if (ref === to) return unchanged;
      const fits: Fits = status === 404 ? (file) => file === undefined : (file) => !isThere(file);
      return { text: String(status), effect: onlyIf(fits), pure: true };
    },
    lost: done,
  };
}

/** Lists a drive with details, which shows the state of all its names. */
export function list(world: World, drive: string): Step {
  const request = `list ${drive}`;
  const refs = world.refsOf(drive);
  return {
    request,
    refs,
    send: (drive) => drive.send("GET", `/files${query({ details: "true" })}`),
    outcomeOf(answer, ref): Outcome {
      if (answer.status !== 200) throw unexpected(answer, request);
      return listingOutcome(world, ref, answer.json as Listing);
    },
    lost: () => undefined,
  };
}

function listingOutcome(world: World, ref: FileRef, { names, files, paging }: Listing): Outcome {
  const known = world.refsOf(ref.drive).map(({ name }) => name).sort();
  const wanted = known.filter((name) => names.includes(name));
  const isWhole = wanted.join() === names.join() && paging === undefined &&
    files?.map(({ name }) => name).join() === names.join();
  if (!isWhole) throw new Error(`${ref.drive} lists ${names.join(", ")}`);
  const file = files?.find(({ name }) => name === ref.name);
  if (file === undefined) return { text: "not listed", effect: onlyIf((one) => !one), pure: true };
  const shown = writerOf(world, ref, file.content_type, file.etag);
  const effect = onlyIf(isListedAs(shown, file.size));
  return { text: `listed as ${shown.version}, ${file.size} bytes`, effect, pure: true };
}
