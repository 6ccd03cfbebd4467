import { assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { utf8 } from "../../support/bytes.ts";
import { type Drive, type FileDetails, query, Upload } from "../../support/drive.ts";
import { addCases, suite } from "../../support/suite.ts";

const test = suite("mtime keeps when the caller's own copy was last modified");

const MTIME = "2021-04-22T11:50:08.123Z";

async function put(drive: Drive, name: string, mtime?: string): Promise<void> {
  const parameters = mtime === undefined ? { name } : { name, mtime };
  (await drive.send("POST", `/files${query(parameters)}`, { body: "meow" })).expect(201);
}

/** The client time of a file in the listing, in a download, in one of a range, and in a HEAD. */
async function timesOf(drive: Drive, name: string): Promise<(string | undefined)[]> {
  const details = (await drive.details()).find((one) => one.name === name);
  const path = `/files/download${query({ name })}`;
  const answers = [
    (await drive.send("GET", path)).expect(200),
    (await drive.send("GET", path, { headers: { Range: "bytes=1-2" } })).expect(206),
    (await drive.send("HEAD", path)).expect(200),
  ];
  return [
    details?.mtime,
    ...answers.map(({ headers }) => headers.get("X-Kvdrive-Mtime") ?? undefined),
  ];
}

test("A time is answered by details and downloads, and modified stays the server's.", async (drive) => {
  const before = Date.now();
  await put(drive, "a", MTIME);
  assertEquals(await timesOf(drive, "a"), [MTIME, MTIME, MTIME, MTIME]);
  const [details] = await drive.details() as [FileDetails];
  assertLess(before - 2000, Date.parse(details.modified));
  const { headers } = await drive.get("a");
  assertLess(before - 2000, Date.parse(headers.get("Last-Modified") ?? ""));
});

for (
  const [sent, kept] of [
    ["2021-04-22T11:50:08Z", "2021-04-22T11:50:08.000Z"],
    ["2021-04-22T11:50:08.5Z", "2021-04-22T11:50:08.500Z"],
    ["2021-04-22t11:50:08.12z", "2021-04-22T11:50:08.120Z"],
    ["1903-12-17T10:35:00Z", "1903-12-17T10:35:00.000Z"],
    ["0000-02-29T00:00:00.001Z", "0000-02-29T00:00:00.001Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ] as const
) {
  test(`${sent} is kept as ${kept}.`, async (drive) => {
    await put(drive, "a", sent);
    assertEquals(await timesOf(drive, "a"), [kept, kept, kept, kept]);
  });
}

test("A file without a time has none, and a new version forgets that of the former.", async (drive) => {
  await put(drive, "a");
  assertEquals(await timesOf(drive, "a"), [undefined, undefined, undefined, undefined]);
  await put(drive, "a", MTIME);
  await put(drive, "a");
  assertEquals(await timesOf(drive, "a"), [undefined, undefined, undefined, undefined]);
  assertEquals(Object.hasOwn((await drive.details())[0] ?? {}, "mtime"), false);
});

test("An upload in parts keeps the time of its start.", async (drive) => {
  const started = await drive.send("POST", `/uploads${query({ name: "a", mtime: MTIME })}`);
  const { upload_id } = started.expect(202).json as { upload_id: string };
  const upload = new Upload(drive, "a", upload_id);
  (await upload.send(1, utf8("meow"))).expect(200);
  const shown = (await upload.lookUp()).expect(200).json as { mtime: string };
  assertEquals(shown.mtime, MTIME);
  (await upload.complete()).expect(200);
  assertEquals(await timesOf(drive, "a"), [MTIME, MTIME, MTIME, MTIME]);
});

test("An upload without parts keeps it, too; one without a time forgets the former.", async (drive) => {
  await put(drive, "a", "2001-01-01T00:00:00Z");
  const started = await drive.send("POST", `/uploads${query({ name: "a", mtime: MTIME })}`);
  const { upload_id } = started.expect(202).json as { upload_id: string };
  (await new Upload(drive, "a", upload_id).complete()).expect(200);
  assertEquals((await drive.details())[0]?.mtime, MTIME);
  (await (await Upload.start(drive, "a")).complete()).expect(200);
  assertEquals((await drive.details())[0]?.mtime, undefined);
});

test("Pages of other origins may read the time of a download.", async (drive) => {
  await put(drive, "a", MTIME);
  const answer = await drive.get("a", { Origin: "https://example.com" });
  assertStringIncludes(answer.header("Access-Control-Expose-Headers"), "X-Kvdrive-Mtime");
});

test("A link sends the time of its file.", async (drive) => {
  await put(drive, "a", MTIME);
  const created = await drive.send("POST", "/links", { body: '{"name":"a"}' });
  const response = await fetch((created.expect(201).json as { url: string }).url);
  assertEquals([response.headers.get("X-Kvdrive-Mtime"), await response.text()], [MTIME, "meow"]);
});

const MALFORMED = [
  "",
  "yesterday",
  "1619092208",
  "2021-04-22",
  "2021-04-22T11:50:08",
  "2021-04-22T11:50:08+02:00",
  "2021-04-22T11:50:08.1234Z",
  "2021-02-29T11:50:08Z",
  "2021-04-22T25:00:00Z",
  "10000-01-01T00:00:00Z",
];

addCases(
  test,
  MALFORMED.flatMap((mtime) =>
    ["/files", "/uploads"].map((path) => ({
      name: `mtime=${mtime} on ${path} is 400.`,
      method: "POST",
      path: `${path}${query({ name: "a", mtime })}`,
      body: "x",
      status: 400,
      contains: ["mtime", "2021-04-22T11:50:08.123Z"],
    }))
  ),
);

addCases(test, [{
  name: "A repeated mtime is 400.",
  method: "POST",
  path: `/files?name=a&mtime=${MTIME}&mtime=${MTIME}`,
  body: "x",
  status: 400,
  contains: ["mtime"],
}]);
