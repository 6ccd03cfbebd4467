import { delay } from "@std/async/delay";
import { assert, assertEquals } from "@std/assert";
import { patternBytes } from "../../support/bytes.ts";
import { assertErrorAnswer } from "../../support/cases.ts";
import { type Drive, query } from "../../support/drive.ts";

/** How often a client asks again before it gives up. */
const MOST_TRIES = 60;

export function contentOf(index: number): Uint8Array<ArrayBuffer> {
  return patternBytes(150_000 + index, index);
}

/** Uploads as a patient client does, which comes back; gives how often it was sent away. */
export async function uploadPatiently(drive: Drive, index: number): Promise<number> {
  const path = `/files${query({ name: `file-${index}` })}`;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const answer = await drive.send("POST", path, { body: contentOf(index) });
    if (answer.status === 201) return tries;
    assertErrorAnswer(answer.expect(503));
    const seconds = Number(answer.header("Retry-After"));
    assert(Number.isInteger(seconds) && seconds > 0, `Retry-After: ${seconds}`);
    await delay(200);
  }
  throw new Error(`The upload ${index} found no place`);
}

/** Every one of the uploads is there, whole. */
export async function assertAllThere(drive: Drive, count: number): Promise<void> {
  const files = await drive.details();
  assertEquals(files.length, count);
  for (let index = 0; index < count; index++) {
    assertEquals((await drive.get(`file-${index}`)).expect(200).bytes, contentOf(index));
  }
}
