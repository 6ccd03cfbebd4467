import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, MIN_PART, patternBytes, utf8 } from "../../support/bytes.ts";
import {
  assertFiles,
  type Drive,
  findContent,
  joinBytes,
  query,
  Upload,
} from "../../support/drive.ts";
import { GatedBody } from "../../support/paced_body.ts";
import { rawRequest, sendAndDisconnect, sendTruncatedBody } from "../../support/raw.ts";
import { PROJECT_ID } from "../../support/server.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Uploads that are paused, broken off, or in each other's way");

const FILES = `/files${query({ name: "a" })}`;

test("An upload continues after its name is deleted and stored again.", async (drive) => {
  const body = patternBytes(6 * MIB, 1);
  await drive.put("a", "the first version");
  const gated = new GatedBody(body);
  const pending = drive.send("POST", FILES, { body: gated.stream });
  await gated.halfSent;
  await assertFiles(drive, { a: utf8("the first version") });
  await drive.delete(["a"]);
  await assertFiles(drive, {});
  await drive.put("a", "the second version");
  await assertFiles(drive, { a: utf8("the second version") });
  gated.open();
  (await pending).expect(201);
  await assertFiles(drive, { a: body });
});

test("A part continues after its file is deleted and stored again.", async (drive) => {
  const parts = [patternBytes(MIN_PART, 1), patternBytes(6 * MIB, 2)] as const;
  await drive.put("a", "the first version");
  const upload = await Upload.start(drive, "a");
  (await upload.send(1, parts[0])).expect(200);
  const gated = new GatedBody(parts[1]);
  const pending = upload.send(2, gated.stream);
  await gated.halfSent;
  await drive.delete(["a"]);
  await drive.put("a", "the second version");
  assertEquals(await upload.parts(), [{ part: 1, size: MIN_PART }]);
  gated.open();
  (await pending).expect(200);
  await assertFiles(drive, { a: utf8("the second version") });
  (await upload.complete()).expect(200);
  await assertFiles(drive, { a: joinBytes(parts) });
});

test("A part that is on the way when its upload is aborted is refused.", async (drive) => {
  await drive.put("a", "the first version");
  const upload = await Upload.start(drive, "a");
  const gated = new GatedBody(patternBytes(6 * MIB, 1));
  const pending = upload.send(1, gated.stream);
  await gated.halfSent;
  (await upload.abort()).expect(200);
  gated.open();
  (await pending).expect(404);
  (await upload.complete()).expect(404);
  await assertFiles(drive, { a: utf8("the first version") });
});

test("An upload that is completed twice at once is one file.", async (drive) => {
  const parts = [patternBytes(MIN_PART, 1), patternBytes(MIN_PART, 2), utf8("the end")];
  const upload = await startWith(drive, parts);
  const answers = await Promise.all([upload.complete(), upload.complete()]);
  for (const answer of answers) answer.expect(200);
  await assertFiles(drive, { a: joinBytes(parts) });
});

test("Two uploads of one name that are completed at once leave one of them whole.", async (drive) => {
  const candidates = [1, 2].map((seed) => patternBytes(MIN_PART + seed, seed));
  const uploads = await Promise.all(candidates.map((bytes) => startWith(drive, [bytes])));
  const answers = await Promise.all(uploads.map((upload) => upload.complete()));
  for (const answer of answers) answer.expect(200);
  await assertFiles(drive, { a: await findContent(drive, "a", candidates) });
});

test("An upload that is completed and aborted at once is a file or is none.", async (drive) => {
  const bytes = patternBytes(MIB, 1);
  for (let round = 0; round < 5; round++) {
    const upload = await startWith(drive, [bytes]);
    const [completed, aborted] = await Promise.all([upload.complete(), upload.abort()]);
    assert([200, 404].includes(completed.status), completed.text);
    assert([200, 404, 409].includes(aborted.status), aborted.text);
    assert(completed.status === 200 || aborted.status === 200, "Neither of them held");
    await assertFiles(drive, completed.status === 200 ? { a: bytes } : {});
    await drive.delete(["a"]);
  }
});

test("A part that is sent twice at once is one of the two.", async (drive) => {
  const candidates = [patternBytes(6 * MIB, 1), patternBytes(5 * MIB, 2)];
  const upload = await Upload.start(drive, "a");
  const answers = await Promise.all(candidates.map((bytes) => upload.send(1, bytes)));
  for (const answer of answers) answer.expect(200);
  (await upload.complete()).expect(200);
  await assertFiles(drive, { a: await findContent(drive, "a", candidates) });
});

test("A part that comes while the upload is completed is refused or included.", async (drive) => {
  const parts = [patternBytes(MIN_PART, 1), patternBytes(MIB, 2)] as const;
  for (let round = 0; round < 5; round++) {
    const upload = await startWith(drive, [parts[0]]);
    const [part, completed] = await Promise.all([upload.send(2, parts[1]), upload.complete()]);
    completed.expect(200);
    assert([200, 404, 409].includes(part.status), part.text);
    // A part that was accepted is a promise: it must not be missing from the file.
    await assertFiles(drive, { a: part.status === 200 ? joinBytes(parts) : parts[0] });
    await drive.delete(["a"]);
  }
});

test("A part that ends while the upload is completed is refused or included.", async (drive) => {
  const bytes = patternBytes(70_000, 1);
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 10 }, async (_, i) => {
      const name = `${round}/${i}`;
      const upload = await Upload.start(drive, name);
      const gated = new GatedBody(bytes, bytes.length - 1);
      const pending = upload.send(1, gated.stream);
      await gated.halfSent;
      gated.open();
      // Spread over the time that storing a part takes, so that every step is met by some.
      await delay(i * round);
      (await upload.complete()).expect(200);
      const { status, text } = await pending;
      assert([200, 404, 409].includes(status), text);
      const stored = (await drive.get(name)).expect(200).bytes;
      assertSameBytes(stored, status === 200 ? bytes : new Uint8Array());
    }));
  }
});

test("A part that ends after the upload was completed is refused.", async (drive) => {
  const first = patternBytes(MIN_PART, 1);
  const upload = await startWith(drive, [first]);
  const gated = new GatedBody(patternBytes(MIB, 2));
  const pending = upload.send(2, gated.stream);
  await gated.halfSent;
  (await upload.complete()).expect(200);
  gated.open();
  const { status } = await pending;
  assert([404, 409].includes(status), `The part of a completed upload got ${status}`);
  await assertFiles(drive, { a: first });
});

/** The ways in which a client leaves half-way; each has sent a part of what it announced. */
const LEAVING: readonly { how: string; leave(drive: Drive, path: string): Promise<unknown> }[] = [
  {
    how: "gives up its request",
    async leave(drive, path) {
      const gated = new GatedBody(patternBytes(6 * MIB, 1));
      const pending = drive.send("POST", path, { body: gated.stream });
      await gated.halfSent;
      gated.breakOff();
      await assertRejects(() => pending);
    },
  },
  {
    how: "closes the connection",
    leave(drive, path) {
      const headers = { "Content-Length": "6000000" };
      const request = rawRequest("POST", target(drive, path), headers, "x".repeat(200_000));
      return sendAndDisconnect(drive.server.port, request);
    },
  },
  {
    how: "announces megabytes and stops",
    leave(drive, path) {
      const sent = patternBytes(3 * MIB, 1);
      return sendTruncatedBody(drive.server.port, target(drive, path), 6 * MIB, sent);
    },
  },
  {
    how: "announces 100 bytes and stops",
    leave(drive, path) {
      return sendTruncatedBody(drive.server.port, target(drive, path), 100, patternBytes(50, 1));
    },
  },
];

for (const { how, leave } of LEAVING) {
  test(`A client that ${how} half-way through a new file leaves nothing.`, async (drive) => {
    await leave(drive, FILES);
    await assertFiles(drive, {});
    await assertServes(drive);
    await assertFiles(drive, { other: utf8("another file") });
  });

  test(`A client that ${how} half-way through another version leaves the earlier one.`, async (drive) => {
    const earlier = patternBytes(MIB, 3);
    await drive.put("a", earlier);
    await leave(drive, FILES);
    await assertFiles(drive, { a: earlier });
    await assertServes(drive);
    await assertFiles(drive, { a: earlier, other: utf8("another file") });
  });

  test(`A client that ${how} half-way through a part leaves the earlier part.`, async (drive) => {
    const part = patternBytes(MIB, 4);
    const upload = await startWith(drive, [part]);
    await leave(drive, `${upload.path}/parts${query({ name: "a", part: 1 })}`);
    await assertServes(drive);
    assertEquals(await upload.parts(), [{ part: 1, size: part.length }]);
    (await upload.complete()).expect(200);
    await assertFiles(drive, { a: part, other: utf8("another file") });
  });
}

async function startWith(
  drive: Drive,
  parts: readonly Uint8Array<ArrayBuffer>[],
): Promise<Upload> {
  const upload = await Upload.start(drive, "a");
  for (const [index, bytes] of parts.entries()) (await upload.send(index + 1, bytes)).expect(200);
  return upload;
}

async function assertServes(drive: Drive): Promise<void> {
  await drive.put("other", "another file");
}

function target(drive: Drive, path: string): string {
  return `/v1/${PROJECT_ID}/${drive.name}${path}`;
}
