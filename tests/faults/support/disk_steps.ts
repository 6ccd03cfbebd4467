import { delay } from "@std/async/delay";
import { assert, assertEquals } from "@std/assert";
import { patternBytes } from "../../support/bytes.ts";
import { assertErrorAnswer } from "../../support/cases.ts";
import type { Drive } from "../../support/drive.ts";
import type { Upload } from "../../support/upload.ts";

type Bytes = Uint8Array<ArrayBuffer>;
export type Files = Record<string, Bytes>;

/** How long the space of deleted files may take to come back, in milliseconds. */
const PATIENCE = 30_000;

/** Uploads files until the disk is full; gives those that were acknowledged. */
export async function fill(drive: Drive, size: number): Promise<Files> {
  const files: Files = {};
  for (let index = 0; index < 1000; index++) {
    const name = `fill-${index}`;
    const bytes = patternBytes(size, index);
    const answer = await drive.send("POST", `/files?name=${name}`, { body: bytes });
    if (answer.status !== 201) {
      assertErrorAnswer(answer.expect(507));
      return files;
    }
    files[name] = bytes;
  }
  throw new Error("The disk never became full");
}

/** Every way to upload is refused, and nothing changes. */
export async function assertFull(drive: Drive, upload: Upload, bytes: Bytes): Promise<void> {
  await drive.unchangedBy(async () => {
    for (const name of ["new", "fill-0"]) {
      assertErrorAnswer(
        (await drive.send("POST", `/files?name=${name}`, { body: bytes })).expect(507),
      );
    }
    assertErrorAnswer((await upload.send(1, bytes)).expect(507));
  });
}

/** Waits until an upload is taken again. */
export async function uploadAsSoonAsPossible(
  drive: Drive,
  name: string,
  bytes: Bytes,
): Promise<void> {
  const until = performance.now() + PATIENCE;
  for (;;) {
    const answer = await drive.send("POST", `/files?name=${name}`, { body: bytes });
    if (answer.status === 201) return;
    assertEquals(answer.status, 507, answer.text);
    assert(performance.now() < until, "The space of deleted files did not come back");
    await delay(200);
  }
}
