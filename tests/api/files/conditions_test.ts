import { assertEquals } from "@std/assert";
import type { Answer } from "../../support/answer.ts";
import { assertSameBytes, patternBytes } from "../../support/bytes.ts";
import { type Drive, Upload } from "../../support/drive.ts";
import { suite } from "../../support/suite.ts";

const reading = suite("Conditions on a download hold as RFC 9110 has them");

const OLD = "Sun, 06 Nov 1994 08:49:37 GMT";

interface ReadCase {
  name: string;
  /** The headers; `{etag}` and `{date}` stand for the file's own. */
  headers: Record<string, string>;
  status: number;
}

const READS: ReadCase[] = [
  { name: "with the tag", headers: { "If-None-Match": "{etag}" }, status: 304 },
  { name: "with the weak tag", headers: { "If-None-Match": "W/{etag}" }, status: 304 },
  { name: "with any tag", headers: { "If-None-Match": "*" }, status: 304 },
  { name: "with a list", headers: { "If-None-Match": `"a", {etag} , "b"` }, status: 304 },
  { name: "with another tag", headers: { "If-None-Match": `"a"` }, status: 200 },
  { name: "with other tags", headers: { "If-None-Match": `"a", W/"b"` }, status: 200 },
  { name: "with the tag", headers: { "If-Match": "{etag}" }, status: 200 },
  { name: "with any tag", headers: { "If-Match": "*" }, status: 200 },
  { name: "with a list", headers: { "If-Match": `"a",{etag}` }, status: 200 },
  { name: "with another tag", headers: { "If-Match": `"a"` }, status: 412 },
  // "An origin server MUST use the strong comparison function […] for If-Match."
  { name: "with the weak tag", headers: { "If-Match": "W/{etag}" }, status: 412 },
  { name: "with its date", headers: { "If-Modified-Since": "{date}" }, status: 304 },
  { name: "with a date long ago", headers: { "If-Modified-Since": OLD }, status: 200 },
  { name: "with what is no date", headers: { "If-Modified-Since": "yesterday" }, status: 200 },
  {
    name: "with its date",
    headers: { "If-Unmodified-Since": "{date}" },
    status: 200,
  },
  { name: "with a date long ago", headers: { "If-Unmodified-Since": OLD }, status: 412 },
  { name: "with what is no date", headers: { "If-Unmodified-Since": "yesterday" }, status: 200 },
  // "A recipient MUST ignore the […] field if the received value is not a valid HTTP-date."
  {
    name: "with a date that is none of HTTP's",
    headers: { "If-Unmodified-Since": "1994-11-06T08:49:37Z" },
    status: 200,
  },
  // "A recipient […] MUST accept all three HTTP-date formats."
  {
    name: "with a date as RFC 850 writes it",
    headers: { "If-Unmodified-Since": "Sunday, 06-Nov-94 08:49:37 GMT" },
    status: 412,
  },
  {
    name: "with a date as asctime() writes it",
    headers: { "If-Unmodified-Since": "Sun Nov  6 08:49:37 1994" },
    status: 412,
  },
  {
    name: "(which counts no more beside the former)",
    headers: { "If-None-Match": `"a"`, "If-Modified-Since": "{date}" },
    status: 200,
  },
  {
    name: "(which counts no more beside the former)",
    headers: { "If-Match": "{etag}", "If-Unmodified-Since": OLD },
    status: 200,
  },
  {
    name: "where the former does not hold",
    headers: { "If-Match": `"a"`, "If-None-Match": "{etag}" },
    status: 412,
  },
  {
    name: "where the former holds",
    headers: { "If-Match": "{etag}", "If-None-Match": "{etag}" },
    status: 304,
  },
];

for (const { name, headers, status } of READS) {
  reading(`${Object.keys(headers).join(" and ")} ${name} answers ${status}.`, async (drive) => {
    await drive.put("a", "content");
    const file = (await drive.get("a")).expect(200);
    const own = filledIn(headers, file);
    assertRead((await drive.get("a", own)).expect(status), file, "content");
    const head = await drive.send("HEAD", "/files/download?name=a", { headers: own });
    assertEquals(head.expect(status).bytes.length, 0);
  });
}

reading("No condition makes a missing file anything but 404.", async (drive) => {
  for (const header of ["If-None-Match", "If-Match"]) {
    (await drive.get("missing", { [header]: "*" })).expect(404);
  }
});

reading("A tag holds no longer once the file was overwritten.", async (drive) => {
  await drive.put("a", "one");
  const etag = await drive.etag("a");
  await drive.put("a", "two");
  assertEquals((await drive.get("a", { "If-None-Match": etag })).expect(200).text, "two");
  (await drive.get("a", { "If-Match": etag })).expect(412);
});

function filledIn(headers: Record<string, string>, file: Answer): Record<string, string> {
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace("{etag}", file.header("ETag")).replace("{date}", file.header("Last-Modified")),
  ]);
  return Object.fromEntries(filled);
}

function assertRead(answer: Answer, file: Answer, content: string): void {
  if (answer.status === 200) assertEquals(answer.text, content);
  if (answer.status === 412) assertEquals(answer.errors.length, 1);
  if (answer.status === 304) {
    assertEquals(answer.bytes.length, 0);
    assertEquals(answer.header("ETag"), file.header("ETag"));
  }
}

const writing = suite("Conditions on a write are decided with the write");

interface WriteCase {
  name: string;
  exists: boolean;
  headers: Record<string, string>;
  holds: boolean;
}

const WRITES: WriteCase[] = [
  { name: "the name is free", exists: false, headers: { "If-None-Match": "*" }, holds: true },
  { name: "the name is taken", exists: true, headers: { "If-None-Match": "*" }, holds: false },
  { name: "it is this version", exists: true, headers: { "If-Match": "{etag}" }, holds: true },
  { name: "it is another version", exists: true, headers: { "If-Match": `"a"` }, holds: false },
  { name: "it is one of these", exists: true, headers: { "If-Match": `"a", {etag}` }, holds: true },
  { name: "the tag is weak", exists: true, headers: { "If-Match": "W/{etag}" }, holds: false },
  { name: "it is any version", exists: true, headers: { "If-Match": "*" }, holds: true },
  { name: "there is no version", exists: false, headers: { "If-Match": `"a"` }, holds: false },
  { name: "there is not any version", exists: false, headers: { "If-Match": "*" }, holds: false },
];

for (const { name, exists, headers, holds } of WRITES) {
  const what = `${JSON.stringify(headers)} ${holds ? "holds" : "does not hold"} when ${name}`;

  writing(`POST /files: ${what}.`, async (drive) => {
    const own = await prepared(drive, exists, headers);
    const write = () => drive.send("POST", "/files?name=a", { headers: own, body: "later" });
    if (!holds) return assertRefused(await drive.unchangedBy(write));
    (await write()).expect(201);
    assertEquals(await drive.text("a"), "later");
  });

  writing(`PATCH: ${what}.`, async (drive) => {
    const own = await prepared(drive, exists, headers);
    const upload = await Upload.start(drive, "a");
    (await upload.send(1, patternBytes(70_000))).expect(200);
    if (!holds) {
      assertRefused(await drive.unchangedBy(() => upload.complete(own)));
      // The bytes are there: a client that settles the conflict need not send them again.
      assertEquals((await upload.parts()).length, 1);
    }
    (await upload.complete(holds ? own : {})).expect(200);
    assertEquals((await drive.get("a")).header("Content-Length"), "70000");
  });
}

writing("A condition on a large file is refused with nothing stored.", async (drive) => {
  await drive.put("a", "earlier");
  const send = () =>
    drive.send("POST", "/files?name=a", {
      headers: { "If-None-Match": "*" },
      body: patternBytes(1_000_000),
    });
  assertRefused(await drive.unchangedBy(send));
  assertEquals(await drive.text("a"), "earlier");
});

// "decided atomically with the write"
for (const size of [10, 100_000]) {
  writing(`Of ten first writes of ${size} bytes at once, one succeeds.`, async (drive) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        drive.send("POST", "/files?name=a", {
          headers: { "If-None-Match": "*" },
          body: patternBytes(size, i + 1),
        })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assertEquals(statuses, [201, ...Array.from({ length: 9 }, () => 412)]);
    const winner = answers.findIndex(({ status }) => status === 201);
    assertSameBytes((await drive.get("a")).bytes, patternBytes(size, winner + 1));
    assertEquals(await drive.usage(), { files: 1, bytes: size });
  });
}

writing("Of ten changes of one version at once, one succeeds.", async (drive) => {
  await drive.put("a", "0");
  const etag = await drive.etag("a");
  const answers = await Promise.all(
    Array.from(
      { length: 10 },
      (_, i) =>
        drive.send("POST", "/files?name=a", { headers: { "If-Match": etag }, body: `${i + 1}` }),
    ),
  );
  assertEquals(answers.filter(({ status }) => status === 201).length, 1);
  assertEquals(answers.filter(({ status }) => status === 412).length, 9);
});

async function prepared(
  drive: Drive,
  exists: boolean,
  headers: Record<string, string>,
): Promise<Record<string, string>> {
  if (!exists) return headers;
  await drive.put("a", "earlier");
  return filledIn(headers, (await drive.get("a")).expect(200));
}

function assertRefused(answer: Answer): void {
  assertEquals(answer.expect(412).errors.length, 1);
}
