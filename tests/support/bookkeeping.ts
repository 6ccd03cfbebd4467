import { assert, assertEquals } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { assertSameBytes } from "./bytes.ts";
import type { Drive } from "./drive.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export function joinBytes(pieces: readonly Bytes[]): Bytes {
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/**
 * "Names, counts and bytes used agree with each other": the drive holds exactly these files, by
 * its list, by its counts and by what it gives back.
 */
export async function assertHolds(
  drive: Drive,
  files: Record<string, Uint8Array>,
): Promise<void> {
  const names = Object.keys(files);
  assertEquals(new Set(await drive.names()), new Set(names));
  for (const [name, bytes] of Object.entries(files)) {
    assertSameBytes((await drive.get(name)).expect(200).bytes, bytes);
  }
  const bytes = Object.values(files).reduce((sum, one) => sum + one.length, 0);
  const usage = await drive.usage() ?? { files: 0, bytes: 0 };
  assertEquals(usage, { files: names.length, bytes });
}

/** The one of the candidates that a file has become; fails when it is none of them. */
export async function findWhole(
  drive: Drive,
  name: string,
  candidates: readonly Uint8Array[],
): Promise<Uint8Array> {
  const { bytes } = (await drive.get(name)).expect(200);
  const found = candidates.find((one) => equals(one, bytes));
  assert(found !== undefined, `${bytes.length} bytes that nobody has sent as a whole`);
  return found;
}
