import { assertEquals, assertNotEquals } from "@std/assert";
import { encodeBase64 } from "@std/encoding/base64";
import { digestField, patternBytes, utf8 } from "../../support/bytes.ts";
import { Upload } from "../../support/drive.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Content-Digest is checked, and Repr-Digest told");

const SIZES = [0, 1, 65_536, 65_537, 1_000_000];

for (const size of SIZES) {
  test(`The right digest of ${size} bytes is accepted, for files and parts.`, async (drive) => {
    const bytes = patternBytes(size, 3);
    const headers = { "Content-Digest": await digestField(bytes) };
    await drive.put("a", bytes, headers);
    const upload = await Upload.start(drive, "b");
    (await upload.send(1, bytes, headers)).expect(200);
    (await upload.complete()).expect(200);
    assertEquals(await drive.usage(), { files: 2, bytes: 2 * size });
  });

  test(`A wrong digest of ${size} bytes stores nothing.`, async (drive) => {
    const headers = { "Content-Digest": await digestField(utf8("something else")) };
    const send = () =>
      drive.send("POST", "/files?name=a", { headers, body: patternBytes(size, 3) });
    assertErrorAnswer((await send()).expect(400));
    assertEquals(await drive.usage(), undefined);
    await drive.put("a", "earlier");
    assertErrorAnswer((await drive.unchangedBy(send)).expect(400));
    assertEquals(await drive.text("a"), "earlier");
  });

  test(`A part of ${size} bytes with a wrong digest is no part.`, async (drive) => {
    const earlier = patternBytes(100, 4);
    const upload = await Upload.start(drive, "a");
    const headers = { "Content-Digest": await digestField(utf8("something else")) };
    const send = () => upload.send(1, patternBytes(size, 3), headers);
    assertErrorAnswer((await send()).expect(400));
    assertEquals(await upload.parts(), []);
    (await upload.send(1, earlier)).expect(200);
    assertErrorAnswer((await drive.unchangedBy(send)).expect(400));
    assertEquals(await upload.parts(), [{ part: 1, size: 100 }]);
    (await upload.complete()).expect(200);
    assertEquals((await drive.get("a")).expect(200).bytes, earlier);
  });
}

const CONTENT = utf8("hello");
const RIGHT = await digestField(CONTENT);
const MALFORMED = [
  "sha-256",
  "sha-256=",
  "sha-256=abc",
  "sha-256=::",
  "sha-256=:AAAA:",
  "sha-256=:not base64!:",
  RIGHT.slice(0, -1),
  RIGHT.replace("=:", "="),
  `sha-256="${RIGHT}"`,
  `sha-256=:${encodeBase64(patternBytes(33))}:`,
];

for (const value of MALFORMED) {
  test(`The digest ${value} is refused.`, async (drive) => {
    const headers = { "Content-Digest": value };
    const upload = await Upload.start(drive, "b");
    await drive.unchangedBy(async () => {
      const file = await drive.send("POST", "/files?name=a", { headers, body: CONTENT });
      assertErrorAnswer(file.expect(400));
      assertErrorAnswer((await upload.send(1, CONTENT, headers)).expect(400));
    });
    assertEquals(await upload.parts(), []);
  });
}

test("A digest may have parameters and lack its padding.", async (drive) => {
  for (const value of [`${RIGHT};a=1`, `${RIGHT}; a="b"; c`, RIGHT.replace(/=:$/, ":")]) {
    await drive.put("a", CONTENT, { "Content-Digest": value });
    const refused = await drive.unchangedBy(() =>
      drive.send("POST", "/files?name=a", { headers: { "Content-Digest": value }, body: "other" })
    );
    assertErrorAnswer(refused.expect(400));
  }
});

test("Beside a digest of another kind, the SHA-256 is checked.", async (drive) => {
  const wrong = await digestField(utf8("something else"));
  const other = `sha-512=:${encodeBase64(patternBytes(64))}:`;
  await drive.put("a", CONTENT, { "Content-Digest": `${other}, ${RIGHT}` });
  const refused = await drive.unchangedBy(() =>
    drive.send("POST", "/files?name=a", {
      headers: { "Content-Digest": `${other}, ${wrong}` },
      body: "other",
    })
  );
  assertErrorAnswer(refused.expect(400));
});

test("A body of names with a wrong digest deletes nothing.", async (drive) => {
  await drive.put("a", "x");
  const body = utf8(JSON.stringify({ names: ["a"] }));
  const wrong = { "Content-Digest": RIGHT };
  const refused = await drive.unchangedBy(() =>
    drive.send("DELETE", "/files", { headers: wrong, body })
  );
  assertErrorAnswer(refused.expect(400));
  const right = { "Content-Digest": await digestField(body) };
  (await drive.send("DELETE", "/files", { headers: right, body })).expect(200);
  assertEquals(await drive.names(), []);
});

// "Downloads of single-request files answer `Repr-Digest`."
for (const size of SIZES) {
  test(`A download of ${size} bytes tells their SHA-256.`, async (drive) => {
    const bytes = patternBytes(size, 5);
    await drive.put("a", bytes);
    const expected = await digestField(bytes);
    assertEquals((await drive.get("a")).expect(200).header("Repr-Digest"), expected);
    const head = await drive.send("HEAD", "/files/download?name=a");
    assertEquals(head.expect(200).header("Repr-Digest"), expected);
  });
}

// RFC 9530: a range is sent with the digest of the whole file.
test("A partial download has the digest of the whole file.", async (drive) => {
  await drive.put("a", CONTENT);
  const answer = (await drive.get("a", { Range: "bytes=1-2" })).expect(206);
  assertEquals(answer.header("Repr-Digest"), RIGHT);
});

test("The digest follows the content.", async (drive) => {
  await drive.put("a", CONTENT);
  await drive.put("a", "later");
  const answer = (await drive.get("a")).expect(200);
  assertNotEquals(answer.header("Repr-Digest"), RIGHT);
  assertEquals(answer.header("Repr-Digest"), await digestField(utf8("later")));
});
