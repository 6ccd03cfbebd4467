import { assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { administer, ADMINISTERED, PROJECTS, withKey } from "../../support/admin.ts";
import { Project } from "../../support/admin.ts";
import type { Answer } from "../../support/answer.ts";
import { assertSameBytes, digestField, KIB, streamOf, utf8 } from "../../support/bytes.ts";
import { type Drive, query, type SendOptions, Upload, uploadParts } from "../../support/drive.ts";
import { PROJECT_ID, PROJECT_KEY } from "../../support/server.ts";
import { makeLink, visit } from "../../support/sharing/links.ts";
import { addCases, assertErrorAnswer, suite } from "../../support/suite.ts";
import { imageBytes, SIGNATURES } from "../../support/sharing/thumbnails.ts";

const test = suite("Thumbnails", { ...ADMINISTERED, twin: true });

const SIZE = 3000;
const IMAGE = imageBytes(SIZE);

function path(name: string): string {
  return `/files/thumbnail${query({ name })}`;
}

/** Returns the answer with any status. */
async function send(drive: Drive, name: string, options: SendOptions = {}): Promise<Answer> {
  return await drive.send("PUT", path(name), { body: IMAGE, ...options });
}

async function put(drive: Drive, name: string, image = IMAGE): Promise<void> {
  (await send(drive, name, { body: image })).expect(200);
}

async function get(
  drive: Drive,
  name: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return await drive.send("GET", path(name), { headers });
}

/** Whether the list and the thumbnail itself agree that there is one with these bytes, or none. */
async function assertThumbnail(
  drive: Drive,
  name: string,
  image: Uint8Array<ArrayBuffer> | undefined,
): Promise<void> {
  const details = (await drive.details()).find((one) => one.name === name);
  assertEquals(details?.thumbnail, image === undefined ? undefined : true);
  const answer = await get(drive, name);
  if (image === undefined) assertEquals(answer.expect(404).code, "thumbnail_not_found");
  else assertSameBytes(answer.expect(200).bytes, image);
}

for (const type of Object.keys(SIGNATURES) as (keyof typeof SIGNATURES)[]) {
  test(`An ${type} is stored and comes back, with that type whatever was sent.`, async (drive) => {
    await drive.put("a.bin", "a file");
    const image = imageBytes(SIZE, type);
    const headers = { "Content-Type": "text/html" };
    const stored = (await send(drive, "a.bin", { body: image, headers })).expect(200);
    assertEquals(stored.json, (await drive.details())[0]);
    await assertThumbnail(drive, "a.bin", image);
    const answer = await get(drive, "a.bin");
    assertEquals(answer.header("Content-Type"), type);
    assertEquals(answer.header("Content-Length"), String(SIZE));
    assertEquals(answer.header("X-Content-Type-Options"), "nosniff");
    assertEquals(answer.header("Cache-Control"), "private, no-cache");
    const head = (await drive.send("HEAD", path("a.bin"))).expect(200);
    assertEquals(head.bytes.length, 0);
    assertEquals(head.header("ETag"), answer.header("ETag"));
  });
}

test("It may have 64 KiB, and one byte more is 413.", async (drive) => {
  await drive.put("a", "a file");
  await put(drive, "a", imageBytes(64 * KIB));
  await assertThumbnail(drive, "a", imageBytes(64 * KIB));
  await drive.unchangedBy(async () => {
    const large = imageBytes(64 * KIB + 1);
    assertEquals((await send(drive, "a", { body: large })).expect(413).code, "body_too_large");
    (await send(drive, "a", { body: streamOf(large) })).expect(413);
  });
  await assertThumbnail(drive, "a", imageBytes(64 * KIB));
});

test("A file keeps its version, times and bytes.", async (drive) => {
  await drive.put("a", "a file");
  const [before] = await drive.details();
  await put(drive, "a");
  assertEquals(await drive.details(), [{ ...before, thumbnail: true }] as unknown);
  assertEquals(await drive.text("a"), "a file");
});

test("Another one replaces it, and has another ETag.", async (drive) => {
  await drive.put("a", "a file");
  await put(drive, "a");
  const first = await get(drive, "a");
  await put(drive, "a", imageBytes(SIZE, "image/png", 2));
  await assertThumbnail(drive, "a", imageBytes(SIZE, "image/png", 2));
  const etag = (await get(drive, "a")).header("ETag");
  assertNotEquals(etag, first.header("ETag"));
  (await get(drive, "a", { "If-None-Match": etag })).expect(304);
  (await get(drive, "a", { "If-None-Match": first.header("ETag") })).expect(200);
  (await get(drive, "a", { "If-Match": first.header("ETag") })).expect(412);
});

test("A new version has none.", async (drive) => {
  await drive.put("a", "a file");
  await put(drive, "a");
  await drive.put("a", "another");
  await assertThumbnail(drive, "a", undefined);
  await put(drive, "a");
  await uploadParts(drive, "a", [utf8("in parts")]);
  await assertThumbnail(drive, "a", undefined);
  assertEquals(await drive.usage(), { files: 1, bytes: 8 });
});

test("Another content type or deadline keeps it.", async (drive) => {
  await drive.put("a", "a file");
  await put(drive, "a");
  const body = JSON.stringify({ content_type: "image/x", expires_in: 1000 });
  const changed = (await drive.send("PATCH", "/files?name=a", { body })).expect(200);
  assertEquals((changed.json as { thumbnail: boolean }).thumbnail, true);
  await assertThumbnail(drive, "a", IMAGE);
});

test("Copies and moves keep it, and each has its own from then on.", async (drive) => {
  const bytes = utf8("a file");
  await drive.put("a", bytes);
  await put(drive, "a");
  const other = drive.another("other");
  const copy = (to: string) =>
    drive.send("POST", "/files/copy", {
      body: JSON.stringify({ from: "a", to, to_drive: other.name }),
    });
  for (const to of ["b", "c"]) (await copy(to)).expect(201);
  const moved = JSON.stringify({ from: "a", to: "d" });
  (await drive.send("POST", "/files/move", { body: moved })).expect(200);
  await assertThumbnail(drive, "d", IMAGE);
  assertEquals((await get(drive, "a")).expect(404).code, "file_not_found");
  const image = imageBytes(100, "image/jpeg", 7);
  await put(other, "b", image);
  await assertThumbnail(other, "b", image);
  await assertThumbnail(other, "c", IMAGE);
  await assertThumbnail(drive, "d", IMAGE);
  await drive.delete(["d"]);
  await assertThumbnail(other, "c", IMAGE);
  const size = bytes.length;
  assertEquals(await other.usage(), { files: 2, bytes: 2 * size + SIZE + 100 });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

test("It counts towards the usage and the quota.", async ({ server }) => {
  const project = await Project.make(server, { max_bytes: 5000 });
  const drive = project.drive("d");
  await drive.put("a", "1234");
  await put(drive, "a");
  assertEquals(await drive.usage(), { files: 1, bytes: SIZE + 4 });
  await drive.put("b", "12");
  const refused = await send(drive, "b");
  assertErrorAnswer(refused.expect(507));
  assertEquals(refused.code, "quota_exceeded");
  await assertThumbnail(drive, "b", undefined);
  await put(drive, "a", imageBytes(4990));
  assertEquals(await drive.usage(), { files: 2, bytes: 4996 });
});

test("The trash keeps it, and a restored file has it again.", async (drive) => {
  const setTrash = async (days: number) => {
    const options = { body: { trash_days: days }, as: withKey(PROJECT_KEY) };
    const path = `${PROJECTS}/${PROJECT_ID}`;
    return (await administer(drive.server, "PATCH", path, options)).expect(200).json as {
      trash_bytes: number;
    };
  };
  await setTrash(7);
  await drive.put("a", "1234");
  await put(drive, "a");
  await drive.delete(["a"]);
  assertEquals((await setTrash(7)).trash_bytes, SIZE + 4);
  const { items: [item] } = (await drive.send("GET", "/trash")).expect(200).json as {
    items: { id: string }[];
  };
  const body = JSON.stringify({ ids: [item?.id] });
  (await drive.send("POST", "/trash/restore", { body })).expect(200);
  await assertThumbnail(drive, "a", IMAGE);
  assertEquals((await setTrash(0)).trash_bytes, 0);
});

test("If-Match and If-None-Match are about the file.", async (drive) => {
  await drive.put("a", "a file");
  const etag = await drive.etag("a");
  (await send(drive, "a", { headers: { "If-Match": etag } })).expect(200);
  await drive.put("a", "another");
  const refused = await send(drive, "a", { headers: { "If-Match": etag } });
  assertEquals(refused.expect(412).code, "precondition_failed");
  (await send(drive, "a", { headers: { "If-None-Match": "*" } })).expect(412);
  await assertThumbnail(drive, "a", undefined);
});

test("Content-Digest is checked.", async (drive) => {
  await drive.put("a", "a file");
  const wrong = { "Content-Digest": await digestField(utf8("other")) };
  assertEquals((await send(drive, "a", { headers: wrong })).expect(400).code, "digest_mismatch");
  await assertThumbnail(drive, "a", undefined);
  (await send(drive, "a", { headers: { "Content-Digest": await digestField(IMAGE) } })).expect(200);
});

test("A file without one, and no file, are different codes.", async (drive) => {
  assertEquals((await get(drive, "a")).expect(404).code, "file_not_found");
  assertEquals((await send(drive, "a")).expect(404).code, "file_not_found");
  assertEquals(await drive.usage(), undefined);
  await drive.put("a", "a file");
  assertEquals((await get(drive, "a")).expect(404).code, "thumbnail_not_found");
});

test("Keys need write to store it and read to get it, for that name.", async ({ server }) => {
  const project = await Project.make(server);
  const drive = project.drive("d");
  await drive.putAll(["in/a", "out/a"]);
  await put(drive, "out/a");
  const as = async (limits: unknown) =>
    project.with((await project.makeKey(limits)).project_key).drive("d");
  const writer = await as({ permissions: ["write"], name_prefix: "in/" });
  await put(writer, "in/a");
  assertEquals((await send(writer, "out/a")).expect(403).code, "key_limited");
  assertEquals((await get(writer, "in/a")).expect(403).code, "missing_permission");
  const reader = await as({ permissions: ["read"], name_prefix: "in/" });
  (await get(reader, "in/a")).expect(200);
  assertEquals((await get(reader, "out/a")).expect(403).code, "key_limited");
  assertEquals((await send(reader, "in/a")).expect(403).code, "missing_permission");
  assertEquals(
    (await drive.send("PUT", path("in/a"), { key: null })).expect(401).code,
    "missing_key",
  );
});

test("Links serve it for their file and for files below them, as hostile content.", async (drive) => {
  await drive.put("p/a.svg", "<svg/>", { "Content-Type": "image/svg+xml" });
  await drive.put("p/b", "b");
  await put(drive, "p/a.svg");
  const file = await makeLink(drive, { name: "p/a.svg" });
  const folder = await makeLink(drive, { prefix: "p/" });
  for (const url of [`${file.url}?thumbnail`, `${folder.url}?name=a.svg&thumbnail`]) {
    const answer = (await visit(url)).expect(200);
    assertSameBytes(answer.bytes, IMAGE);
    assertEquals(answer.header("Content-Type"), "image/webp");
    assertEquals(answer.header("X-Content-Type-Options"), "nosniff");
    assertStringIncludes(answer.header("Content-Security-Policy"), "sandbox; default-src 'none'");
    assertEquals(answer.header("Cross-Origin-Resource-Policy"), "same-origin");
    const headers = { "If-None-Match": answer.header("ETag") };
    (await visit(url, { headers })).expect(304);
  }
  (await visit(`${folder.url}?name=b&thumbnail`)).expect(404);
  (await visit(`${folder.url}?name=c&thumbnail`)).expect(404);
  const script = { "Sec-Fetch-Dest": "script" };
  (await visit(`${file.url}?thumbnail`, { headers: script })).expect(403);
});

test("It counts as a download of a link.", async (drive) => {
  await drive.put("a", "a file");
  await put(drive, "a");
  const { url } = await makeLink(drive, { name: "a", max_downloads: 1 });
  (await visit(`${url}?thumbnail`, { method: "HEAD" })).expect(200);
  const answer = (await visit(`${url}?thumbnail`)).expect(200);
  assertEquals(answer.header("Cache-Control"), "no-store");
  (await visit(`${url}?thumbnail`)).expect(404);
  (await visit(url)).expect(404);
});

test("A link with a password does not serve it without.", async (drive) => {
  await drive.put("a", "a file");
  await put(drive, "a");
  const { url } = await makeLink(drive, { name: "a", password: "secret" });
  (await visit(`${url}?thumbnail`)).expect(401);
});

test("It goes with an upload that replaces its file while it is sent.", async (drive) => {
  await drive.put("a", "a file");
  const upload = await Upload.start(drive, "a");
  await put(drive, "a");
  (await upload.complete()).expect(200);
  await assertThumbnail(drive, "a", undefined);
});

addCases(
  test,
  ([
    ["an SVG", utf8("<svg xmlns='http://www.w3.org/2000/svg'/>")],
    ["HTML", utf8("<!doctype html><script>alert(1)</script>")],
    ["a GIF", utf8("GIF89a................")],
    ["nothing", new Uint8Array()],
    ["the first bytes of a signature", new Uint8Array(SIGNATURES["image/png"].slice(0, 7))],
    ["a RIFF that is no WebP", utf8("RIFF....WAVE........")],
  ] as const).map(([what, body]) => ({
    name: `A thumbnail that is ${what} is 415.`,
    method: "PUT",
    path: path("a"),
    headers: { "Content-Type": "image/png" },
    body,
    status: 415,
    code: "unsupported_image",
    contains: ["JPEG"],
  })),
  (drive) => drive.put("a", "a file"),
);

addCases(test, [
  {
    name: "A thumbnail without a name is 400.",
    method: "PUT",
    path: "/files/thumbnail",
    body: IMAGE,
    status: 400,
    contains: ["name"],
  },
  {
    name: "A thumbnail of a folder is 400.",
    method: "GET",
    path: path("a/"),
    status: 400,
    code: "invalid_file_name",
  },
  {
    name: "Another method is 405.",
    method: "POST",
    path: path("a"),
    status: 405,
    code: "method_not_allowed",
  },
]);
