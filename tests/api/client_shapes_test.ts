import { assertEquals } from "@std/assert";
import type { Answer } from "../support/answer.ts";
import { MAX_PAYLOAD, patternBytes, utf8 } from "../support/bytes.ts";
import { assertFiles, type Drive } from "../support/drive.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { suite } from "../support/suite.ts";

const test = suite("Requests exactly as published client libraries send them");

type Fields = Record<string, string | null>;

/** What each request of a library carries. The official JavaScript one has a test of its own. */
interface Library {
  title: string;
  headers: Fields;
}

const LIBRARIES: readonly [Library, Library] = [
  {
    title: "Python",
    headers: { "Host": "localhost", "Accept-Encoding": "identity", "X-Api-Key": PROJECT_KEY },
  },
  {
    title: "Go",
    headers: {
      "Host": "localhost",
      "User-Agent": "Go-http-client/1.1",
      "X-Api-Key": PROJECT_KEY,
      "Accept-Encoding": "gzip",
    },
  },
];

const NAMES = ["plain.txt", "a directory/a file.txt", "1+1=2 & more", "🦖.png"];

for (const library of LIBRARIES) {
  test(`${library.title} stores, reads, lists and deletes.`, async (drive) => {
    for (const name of NAMES) {
      const id = await initialise(library, drive, name);
      const text = `the content of ${NAMES.indexOf(name)}`;
      const part = `/uploads/${id}/parts?${partQuery(name)}`;
      const headers = { "Content-Length": String(text.length) };
      (await call(library, drive, "POST", part, headers, text)).expect(200);
      (await bodyless(library, drive, "PATCH", uploadPath(id, name))).expect(200);
      const download = `/files/download?name=${quote(name)}`;
      assertEquals((await bodyless(library, drive, "GET", download)).expect(200).text, text);
    }
    const listed = (await bodyless(library, drive, "GET", "/files?limit=1000")).expect(200);
    assertEquals(listed.json, { names: [...NAMES].sort() });
    const page = (await bodyless(library, drive, "GET", "/files?limit=1&prefix=p")).expect(200);
    assertEquals(page.json, { names: ["plain.txt"] });
    const body = JSON.stringify({ names: [...NAMES, "missing"] });
    const deleted = (await deleteFiles(library, drive, body)).expect(200);
    assertEquals(deleted.json, { deleted: [...NAMES, "missing"], failed: [] });
    await assertFiles(drive, {});
  });

  test(`${library.title} stores an empty file without any part.`, async (drive) => {
    const id = await initialise(library, drive, "empty.txt");
    (await bodyless(library, drive, "PATCH", uploadPath(id, "empty.txt"))).expect(200);
    await assertFiles(drive, { "empty.txt": new Uint8Array() });
  });

  test(`${library.title} aborts an upload.`, async (drive) => {
    const id = await initialise(library, drive, "a b");
    const path = uploadPath(id, "a b");
    (await bodyless(library, drive, "DELETE", path)).expect(200);
    (await bodyless(library, drive, "PATCH", path)).expect(404);
    await assertFiles(drive, {});
  });

  test(`${library.title} is told that a file does not exist.`, async (drive) => {
    const answer = await bodyless(library, drive, "GET", "/files/download?name=missing");
    assertEquals(answer.expect(404).errors.length, 1);
  });

  test(`${library.title} may give the content type with the parts alone.`, async (drive) => {
    const id = await initialise(library, drive, "photo.png");
    const part = `/uploads/${id}/parts?${partQuery("photo.png")}`;
    const headers = { "Content-Length": "4", "Content-Type": "image/x-of-the-part" };
    (await call(library, drive, "POST", part, headers, "data")).expect(200);
    (await bodyless(library, drive, "PATCH", uploadPath(id, "photo.png"))).expect(200);
    const answer = await bodyless(library, drive, "GET", "/files/download?name=photo.png");
    assertEquals(answer.expect(200).header("Content-Type"), "image/x-of-the-part");
  });
}

test("A loop that reads to the end of a file sends whole parts and a rest.", async (drive) => {
  const bytes = patternBytes(MAX_PAYLOAD + 12_345, 1);
  const name = "large file";
  const init = (await drive.send("POST", "/uploads?name=large+file")).expect(202);
  const { upload_id } = init.json as { upload_id: string };
  let part = 0;
  for (let at = 0; at < bytes.length; at += MAX_PAYLOAD) {
    part += 1;
    const body = bytes.slice(at, at + MAX_PAYLOAD);
    const path = `/uploads/${upload_id}/parts?name=large+file&part=${part}`;
    const { json } = (await drive.send("POST", path, { body })).expect(200);
    assertEquals(json, { name, upload_id, part, project_id: PROJECT_ID, drive_name: drive.name });
  }
  (await drive.send("PATCH", `/uploads/${upload_id}?name=large+file`)).expect(200);
  await assertFiles(drive, { [name]: bytes });
});

test("A prefix with a slash may stand unquoted, as the Python library sends it.", async (drive) => {
  await drive.putAll(["dir/a", "dir/b", "dirt"]);
  const path = "/files?limit=1&prefix=dir/&last=dir/a";
  assertEquals((await bodyless(LIBRARIES[0], drive, "GET", path)).expect(200).json, {
    names: ["dir/b"],
  });
});

test("A deletion needs no content type.", async (drive) => {
  await drive.put("a", "a");
  const answer = await drive.send("DELETE", "/files", { body: utf8(`{"names":["a"]}`) });
  assertEquals(answer.expect(200).json, { deleted: ["a"], failed: [] });
});

async function initialise(library: Library, drive: Drive, name: string): Promise<string> {
  const path = `/uploads?name=${quote(name)}`;
  const answer = (await bodyless(library, drive, "POST", path)).expect(202);
  const body = answer.json as Record<"name" | "upload_id" | "project_id" | "drive_name", string>;
  assertEquals(body, {
    name,
    upload_id: body.upload_id,
    project_id: PROJECT_ID,
    drive_name: drive.name,
  });
  return body.upload_id;
}

function uploadPath(id: string, name: string): string {
  return `/uploads/${id}?name=${quote(name)}`;
}

async function bodyless(
  library: Library,
  drive: Drive,
  method: string,
  path: string,
): Promise<Answer> {
  const headers: Fields = ["POST", "PATCH"].includes(method) ? { "Content-Length": "0" } : {};
  return await call(library, drive, method, path, headers);
}

async function deleteFiles(library: Library, drive: Drive, body: string): Promise<Answer> {
  const length = String(utf8(body).length);
  const headers = { "Content-Length": length, "Content-Type": "application/json" };
  return await call(library, drive, "DELETE", "/files", headers, body);
}

async function call(
  library: Library,
  drive: Drive,
  method: string,
  path: string,
  headers: Fields,
  body = "",
): Promise<Answer> {
  const target = `/v1/${PROJECT_ID}/${drive.name}${path}`;
  // `rawRequest` has defaults of its own; only the library's headers are to be sent.
  const all = { "X-Api-Key": null, ...library.headers, ...headers };
  return await sendRaw(drive.server.port, rawRequest(method, target, all, body));
}

/** Both of them write a space as a plus sign (`quote_plus`, `url.Values.Encode`). */
function quote(name: string): string {
  return encodeURIComponent(name).replaceAll("%20", "+");
}

function partQuery(name: string): string {
  return `name=${quote(name)}&part=1`;
}
