import { assertEquals, assertNotEquals } from "@std/assert";
import { assertSameBytes, patternBytes } from "../../support/bytes.ts";
import { type Drive, query } from "../../support/drive.ts";
import { rawRequest, sendAndDisconnect, sendRaw } from "../../support/raw.ts";
import { PROJECT_ID } from "../../support/server.ts";
import { addCases, suite } from "../../support/suite.ts";

const test = suite("POST /files stores a file in a single request");

test("A new file answers 201 with its name, project and drive.", async (drive) => {
  const answer = await drive.put("a.txt", "hello");
  assertEquals(answer.json, { name: "a.txt", project_id: PROJECT_ID, drive_name: drive.name });
  assertEquals(await drive.text("a.txt"), "hello");
});

test("The first file creates the drive.", async (drive) => {
  assertEquals(await drive.usage(), undefined);
  await drive.put("a.txt", "hello");
  assertEquals(await drive.usage(), { files: 1, bytes: 5 });
});

test("An empty body is an empty file.", async (drive) => {
  (await drive.send("POST", "/files?name=empty")).expect(201);
  await drive.put("also-empty", "");
  assertEquals(await drive.text("empty"), "");
  assertEquals(await drive.text("also-empty"), "");
  assertEquals(await drive.usage(), { files: 2, bytes: 0 });
});

// "Overwrites any file with the same name."
test("A second file of the same name replaces the bytes and the content type.", async (drive) => {
  await drive.put("a", patternBytes(200_000), { "Content-Type": "image/png" });
  const before = await drive.etag("a");
  const answer = await drive.put("a", "short", { "Content-Type": "text/html" });
  assertEquals(answer.json, { name: "a", project_id: PROJECT_ID, drive_name: drive.name });
  const download = (await drive.get("a")).expect(200);
  assertEquals(download.text, "short");
  assertEquals(download.header("Content-Type"), "text/html");
  assertNotEquals(download.header("ETag"), before);
  assertEquals(await drive.names(), ["a"]);
  assertEquals(await drive.usage(), { files: 1, bytes: 5 });
});

test("A small file may become a large one and small again.", async (drive) => {
  for (const size of [10, 300_000, 65_536, 65_537, 0, 10]) {
    const bytes = patternBytes(size, size);
    await drive.put("a", bytes);
    assertSameBytes((await drive.get("a")).expect(200).bytes, bytes);
    assertEquals(await drive.usage(), { files: 1, bytes: size });
  }
});

// "Each file is identified by a unique name inside its drive."
test("The same name in two drives is two files.", async (drive) => {
  const other = drive.another("other");
  await drive.put("a", "here");
  await other.put("a", "there");
  assertEquals(await drive.text("a"), "here");
  assertEquals(await other.text("a"), "there");
  await other.delete(["a"]);
  assertEquals(await drive.text("a"), "here");
});

test("An upload that breaks off leaves the earlier version as it was.", async (drive) => {
  await drive.put("a", "earlier");
  const target = `/v1/${PROJECT_ID}/${drive.name}/files?name=a`;
  const head = rawRequest("POST", target, { "Content-Length": "200000" }, "x".repeat(150_000));
  await sendAndDisconnect(drive.server.port, head);
  assertEquals(await drive.text("a"), "earlier");
  assertEquals(await drive.usage(), { files: 1, bytes: 7 });
});

const CONTENT_TYPES: { sent: string | null; name: string; stored: string }[] = [
  { sent: "text/html; charset=utf-8", name: "a.png", stored: "text/html; charset=utf-8" },
  { sent: "application/x-made-up", name: "a.txt", stored: "application/x-made-up" },
  { sent: "application/octet-stream", name: "a.png", stored: "application/octet-stream" },
  { sent: null, name: "a.txt", stored: "text/plain" },
  { sent: null, name: "a.html", stored: "text/html" },
  { sent: null, name: "a.json", stored: "application/json" },
  { sent: null, name: "a.png", stored: "image/png" },
  { sent: null, name: "a.PNG", stored: "image/png" },
  { sent: null, name: "dir.txt/a.pdf", stored: "application/pdf" },
  { sent: null, name: "a.txt.unheard-of", stored: "application/octet-stream" },
  { sent: null, name: "dir.png/file", stored: "application/octet-stream" },
  { sent: null, name: "file", stored: "application/octet-stream" },
  { sent: null, name: "png", stored: "application/octet-stream" },
  { sent: null, name: "a.constructor", stored: "application/octet-stream" },
  { sent: null, name: "a.__proto__", stored: "application/octet-stream" },
  { sent: null, name: "ends-with-a-dot.", stored: "application/octet-stream" },
  // "An empty value and `binary/octet-stream` […] count as absent."
  { sent: "", name: "a.txt", stored: "text/plain" },
  { sent: "", name: "file", stored: "application/octet-stream" },
  { sent: "binary/octet-stream", name: "a.png", stored: "image/png" },
  { sent: "binary/octet-stream", name: "file", stored: "application/octet-stream" },
  // What `curl --data-binary` sends.
  { sent: "application/x-www-form-urlencoded", name: "a.png", stored: "image/png" },
  { sent: "Application/X-WWW-Form-Urlencoded", name: "file", stored: "application/octet-stream" },
  { sent: "application/x-www-form-urlencoded;charset=UTF-8", name: "a.png", stored: "image/png" },
];

// What `curl -F` sends.
addCases(
  test,
  ["/files?name=a", "/uploads?name=a", "/uploads/unknown/parts?name=a&part=1"].map((path) => ({
    name: `A form at ${path} is refused, with what would be right.`,
    method: "POST",
    path,
    headers: { "Content-Type": "multipart/form-data; boundary=x" },
    body: '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nmeow\r\n--x--\r\n',
    status: 415,
    contains: ["send the bytes themselves", "--data-binary @FILE", "-T FILE"],
  })),
  (drive) => drive.put("a", "earlier"),
);

for (const { sent, name, stored } of CONTENT_TYPES) {
  const what = sent === null ? "no content type" : `the content type "${sent}"`;
  test(`"${name}" with ${what} is kept as ${stored}.`, async (drive) => {
    await putWithType(drive, name, sent);
    assertEquals((await drive.get(name)).expect(200).header("Content-Type"), stored);
    assertEquals((await drive.details())[0]?.content_type, stored);
  });
}

/** Sent raw, so that no client library adds or drops a header. */
async function putWithType(drive: Drive, name: string, type: string | null): Promise<void> {
  const target = `/v1/${PROJECT_ID}/${drive.name}/files${query({ name })}`;
  const headers = { "Content-Type": type, "Content-Length": "4" };
  const request = rawRequest("POST", target, headers, "body");
  (await sendRaw(drive.server.port, request)).expect(201);
}

addCases(test, [
  {
    name: "A file without a name is refused.",
    method: "POST",
    path: "/files",
    body: "x",
    status: 400,
    contains: ["name"],
  },
  {
    name: "A file with an empty name is refused.",
    method: "POST",
    path: "/files?name=",
    body: "x",
    status: 400,
    contains: ["name"],
  },
  {
    name: "A file named like a directory is refused.",
    method: "POST",
    path: "/files?name=dir/",
    body: "x",
    status: 400,
    contains: ["/"],
  },
]);
