import { equals } from "@std/bytes/equals";
import type { Answer } from "../../support/answer.ts";
import { bytesOf } from "./model_content.ts";
import { type Effect, type Version, versionSize } from "./model_state.ts";
import type { Source, Spot, World } from "./model_world.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Fits = (file: Version | undefined) => boolean;

/** An effect that changes nothing and demands something of the file. */
export function onlyIf(fits: Fits): Effect {
  return (state) => fits(state.file) ? state : undefined;
}

/** What kind of content type says who wrote a file. */
export function typeOf({ id }: Source): string {
  return `application/x-${id}`;
}

/** Who wrote what an answer shows; its entity tag is taken down. */
export function writerOf(world: World, spot: Spot, type: string, etag: string): Source {
  const source = world.source(type.replace("application/x-", ""));
  world.noteTag(spot, etag.replaceAll('"', ""), source.id);
  return source;
}

/** The version that an answer with bytes shows. @throws {Error} if nobody has sent these bytes. */
export function versionIn(world: World, spot: Spot, answer: Answer): { text: string; fits: Fits } {
  const source = writerOf(world, spot, answer.header("Content-Type"), answer.header("ETag"));
  const { start, total } = rangeOf(answer);
  const bodies = bodiesIn(source, answer.bytes, start);
  const found = JSON.stringify(bodies.map((some) => some && [...some].join(" or ")));
  return {
    text: `${answer.status} ${source.id}, ${total} bytes, from ${start} on: ${found}`,
    fits: (file) =>
      file?.source === source.id && versionSize(file) === total &&
      file.bodies.every((body, i) => bodies[i]?.has(body) ?? true),
  };
}

/** Where the bytes of an answer lie in the file, and how long that is. */
function rangeOf(answer: Answer): { start: number; total: number } {
  const { length } = answer.bytes;
  if (answer.status === 200) return { start: 0, total: length };
  const range = answer.header("Content-Range");
  const [start, end, total] = (range.match(/\d+/g) ?? []).map(Number);
  if (start === undefined || end === undefined || total === undefined) throw new Error(range);
  if (end - start + 1 !== length) throw new Error(`${length} bytes with ${range}`);
  return { start, total };
}

/** Which of the bodies that were sent the bytes are made of; `undefined` for one that they don't reach. */
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
    throw new Error(`Bytes ${from + start} to ${to + start} of ${source.id} were sent by nobody`);
  });
}

/** Whether a version is the one that an entry of a list describes. */
export function isListedAs(source: Source, size: number): Fits {
  return (file) => file?.source === source.id && versionSize(file) === size;
}
