import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../../support/answer.ts";
import { KIB, patternBytes } from "../../support/bytes.ts";
import { assertFiles, type Drive, findContent, query, Upload } from "../../support/drive.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Writers of one name at once");

type Bytes = Uint8Array<ArrayBuffer>;

/** Sizes around that of one stored piece, small and large: each way of storing meets each other. */
const SIZES = [0, 1, 1000, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 200 * KIB, 1500 * KIB];

test("Twenty overwrites leave one of them whole, and are counted once.", async (drive) => {
  const bodies = Array.from({ length: 20 }, (_, i) => version(i));
  const answers = await writeAll(drive, bodies);
  assertEquals(statuses(answers), { 201: 20 });
  await assertFiles(drive, { a: await findContent(drive, "a", bodies) });
});

test("Twenty rounds of overwrites of five names at once add up.", async (drive) => {
  const names = ["a", "b", "c", "d", "e"];
  for (let round = 0; round < 20; round++) {
    await Promise.all(names.map((name, i) => drive.put(name, version(round + i))));
  }
  const files = names.map((name, i): [string, Bytes] => [name, version(19 + i)]);
  await assertFiles(drive, Object.fromEntries(files));
});

test("Of ten writers that want the name to be new, one succeeds.", async (drive) => {
  for (let round = 0; round < 3; round++) {
    const bodies = Array.from({ length: 10 }, (_, i) => version(i + round));
    const answers = await writeAll(drive, bodies, { "If-None-Match": "*" });
    assertEquals(statuses(answers), { 201: 1, 412: 9 });
    const winner = bodies[answers.findIndex((answer) => answer.status === 201)];
    assert(winner !== undefined);
    await assertFiles(drive, { a: winner });
    await drive.delete(["a"]);
  }
});

test("Of ten writers that saw the same version, one succeeds.", async (drive) => {
  for (let round = 0; round < 3; round++) {
    await drive.put("a", `version ${round}`);
    const bodies = Array.from({ length: 10 }, (_, i) => version(i + round));
    const answers = await writeAll(drive, bodies, { "If-Match": await drive.etag("a") });
    assertEquals(statuses(answers), { 201: 1, 412: 9 });
    const winner = bodies[answers.findIndex((answer) => answer.status === 201)];
    assert(winner !== undefined);
    await assertFiles(drive, { a: winner });
  }
});

test("Of ten completions that want the name to be new, one succeeds.", async (drive) => {
  const bodies = Array.from({ length: 10 }, (_, i) => version(i));
  const uploads = await Promise.all(bodies.map(async (bytes) => {
    const upload = await Upload.start(drive, "a");
    (await upload.send(1, bytes)).expect(200);
    return upload;
  }));
  const answers = await Promise.all(uploads.map((one) => one.complete({ "If-None-Match": "*" })));
  assertEquals(statuses(answers), { 200: 1, 412: 9 });
  const winner = bodies[answers.findIndex((answer) => answer.status === 200)];
  assert(winner !== undefined);
  await assertFiles(drive, { a: winner });
});

for (const size of [10, 64 * KIB, 1500 * KIB]) {
  test(`A file of ${size} bytes that is stored and deleted at once is whole or gone.`, async (drive) => {
    const bytes = patternBytes(size, 1);
    for (let round = 0; round < 10; round++) {
      await Promise.all([drive.put("a", bytes), drive.delete(["a"])]);
      const { status } = await drive.get("a");
      assert(status === 200 || status === 404, `Status ${status}`);
      await assertFiles(drive, status === 200 ? { a: bytes } : {});
    }
  });

  test(`A file of ${size} bytes that is overwritten and deleted at once is whole or gone.`, async (drive) => {
    const bytes = patternBytes(size, 2);
    for (let round = 0; round < 10; round++) {
      await drive.put("a", "an earlier version");
      await Promise.all([drive.delete(["a"]), drive.put("a", bytes)]);
      const { status } = await drive.get("a");
      assert(status === 200 || status === 404, `Status ${status}`);
      await assertFiles(drive, status === 200 ? { a: bytes } : {});
    }
  });
}

test("Five deletions of one name at once subtract it once.", async (drive) => {
  await drive.put("a", patternBytes(200 * KIB, 1));
  await drive.put("b", "stays");
  const answers = await Promise.all(Array.from({ length: 5 }, () => drive.delete(["a"])));
  for (const answer of answers) assertEquals(answer, { deleted: ["a"], failed: [] });
  await assertFiles(drive, { b: new TextEncoder().encode("stays") });
});

test("The first writers of a new drive make one drive.", async (drive) => {
  const names = Array.from({ length: 20 }, (_, i) => `file ${i}`);
  await drive.putAll(names);
  const files = names.map((name): [string, Bytes] => [name, new TextEncoder().encode(name)]);
  await assertFiles(drive, Object.fromEntries(files));
});

function version(number: number): Bytes {
  return patternBytes((SIZES[number % SIZES.length] ?? 0) + number, number + 1);
}

async function writeAll(
  drive: Drive,
  bodies: readonly Bytes[],
  headers: Record<string, string> = {},
): Promise<Answer[]> {
  const path = `/files${query({ name: "a" })}`;
  return await Promise.all(bodies.map((body) => drive.send("POST", path, { body, headers })));
}

function statuses(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
