import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { digestField, MIN_PART, patternBytes } from "../../support/bytes.ts";
import { type Drive, query, Upload, type UploadDetails } from "../../support/drive.ts";
import { AWKWARD_NAMES } from "../../support/names.ts";
import { PROJECT_ID } from "../../support/server.ts";
import { addCases, suite } from "../../support/suite.ts";

const test = suite("GET /uploads and GET /uploads/{id} tell what is under way");

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

interface Open {
  upload_id: string;
  name: string;
  created: string;
  expires: string;
}

interface OpenUploads {
  uploads: Open[];
  paging?: { size: number; last: string };
}

async function open(
  drive: Drive,
  parameters: Record<string, string | number> = {},
): Promise<OpenUploads> {
  const answer = await drive.send("GET", `/uploads${query(parameters)}`);
  return answer.expect(200).json as OpenUploads;
}

test("A drive without uploads lists none.", async (drive) => {
  assertEquals(await open(drive), { uploads: [] });
  assertEquals(await drive.usage(), undefined);
});

test("An open upload is listed with its id, name and dates.", async (drive) => {
  const upload = await Upload.start(drive, "a/b.txt");
  const { uploads, ...rest } = await open(drive);
  assertEquals(rest, {});
  assertEquals(uploads.length, 1);
  const [one] = uploads;
  assert(one !== undefined);
  assertEquals(Object.keys(one).sort(), ["created", "expires", "name", "upload_id"]);
  assertEquals([one.upload_id, one.name], [upload.id, "a/b.txt"]);
  assertMatch(one.created, ISO_UTC);
  assertMatch(one.expires, ISO_UTC);
  assertLess(Math.abs(Date.parse(one.created) - Date.now()), 60_000);
  assertLess(Date.now(), Date.parse(one.expires));
});

test("An upload is listed until it is completed or aborted.", async (drive) => {
  const [one, two, three] = [
    await Upload.start(drive, "1"),
    await Upload.start(drive, "2"),
    await Upload.start(drive, "3"),
  ];
  assertEquals((await open(drive)).uploads.map(({ name }) => name).sort(), ["1", "2", "3"]);
  (await one.complete()).expect(200);
  (await two.abort()).expect(200);
  assertEquals((await open(drive)).uploads.map((upload) => upload.upload_id), [three.id]);
});

test("Uploads of other drives are not listed.", async (drive) => {
  await Upload.start(drive.another("other"), "a");
  assertEquals(await open(drive), { uploads: [] });
});

for (const limit of [1, 2, 3]) {
  test(`A walk with limit=${limit} gives every upload once.`, async (drive) => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await Upload.start(drive, "same name")).id);
    const seen: string[] = [];
    for (let last = "";;) {
      const { uploads, paging } = await open(drive, { limit, last });
      seen.push(...uploads.map(({ upload_id }) => upload_id));
      if (paging === undefined) break;
      assertEquals(paging, { size: limit, last: seen.at(-1) ?? "" });
      last = paging.last;
    }
    assertEquals(seen.length, 5);
    assertEquals(seen.toSorted(), ids.toSorted());
  });
}

test("There is no paging if everything fits.", async (drive) => {
  for (const name of ["a", "b"]) await Upload.start(drive, name);
  assertEquals((await open(drive, { limit: 2 })).paging, undefined);
  assertEquals((await open(drive, { limit: 1 })).paging?.size, 1);
});

// "so that a client can resume after a crash"
test("One upload is returned with its parts and its deadline.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  assertEquals(await upload.parts(), []);
  (await upload.send(12, patternBytes(5))).expect(200);
  (await upload.send(2, patternBytes(MIN_PART))).expect(200);
  (await upload.send(1, patternBytes(0))).expect(200);
  const details = (await upload.lookUp()).expect(200).json as UploadDetails;
  const { created, expires, ...rest } = details;
  assertEquals<unknown>(rest, {
    name: "a",
    upload_id: upload.id,
    project_id: PROJECT_ID,
    drive_name: drive.name,
    parts: [{ part: 1, size: 0 }, { part: 2, size: MIN_PART }, { part: 12, size: 5 }],
  });
  assertMatch(created, ISO_UTC);
  assertMatch(expires, ISO_UTC);
  const [listed] = (await open(drive)).uploads;
  assertEquals([listed?.created, listed?.expires], [created, expires]);
});

test("With details=true it also has the SHA-256 of its parts, and its content type.", async (drive) => {
  const bytes = patternBytes(5);
  const sha256 = (await digestField(bytes)).slice("sha-256=:".length, -1);
  for (const type of ["text/x-own", undefined]) {
    const upload = await Upload.start(
      drive,
      "a",
      type === undefined ? {} : { "Content-Type": type },
    );
    (await upload.send(1, bytes)).expect(200);
    const details = (await upload.lookUp({ details: "true" })).expect(200).json as UploadDetails;
    assertEquals<unknown>(details.parts, [{ part: 1, size: 5, sha256 }]);
    assertEquals(details.content_type, type);
  }
  const upload = await Upload.start(drive, "a");
  (await upload.lookUp({ details: "yes" })).expect(400);
});

test("An upload can be resumed from the answers of the look-ups.", async (drive) => {
  const lost = await Upload.start(drive, "big");
  (await lost.send(1, patternBytes(MIN_PART, 1))).expect(200);
  const [found] = (await open(drive)).uploads;
  const upload = new Upload(drive, found?.name ?? "", found?.upload_id ?? "");
  assertEquals((await upload.parts()).map(({ part }) => part), [1]);
  (await upload.send(2, patternBytes(7, 2))).expect(200);
  (await upload.complete()).expect(200);
  assertEquals(await drive.usage(), { files: 1, bytes: MIN_PART + 7 });
});

test("Awkward names are returned unchanged.", async (drive) => {
  for (const { what, name } of AWKWARD_NAMES) {
    const upload = await Upload.start(drive, name);
    const details = (await upload.lookUp()).expect(200).json as UploadDetails;
    assertEquals([what, details.name], [what, name]);
  }
  const listed = (await open(drive)).uploads.map(({ name }) => name);
  assertEquals(listed.toSorted(), AWKWARD_NAMES.map(({ name }) => name).toSorted());
});

addCases(
  test,
  ["0", "-1", "abc", "1.5", ""].map((limit) => ({
    name: `The limit "${limit}" of uploads is refused.`,
    method: "GET",
    path: `/uploads${query({ limit })}`,
    status: 400,
    contains: ["limit"],
  })),
);

addCases(test, [
  {
    name: "Looking up an unknown upload is 404.",
    method: "GET",
    path: "/uploads/no-such-upload?name=a",
    status: 404,
  },
  {
    name: "Looking up an unknown upload without a name is 400: parameters come first.",
    method: "GET",
    path: "/uploads/no-such-upload",
    status: 400,
    contains: ["name"],
  },
]);
