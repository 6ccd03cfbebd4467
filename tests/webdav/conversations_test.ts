/**
 * What clients send, as their public descriptions have it: Finder, Explorer, Microsoft Office, davfs2, and clients that
 * send names in another Unicode form.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { patternBytes } from "../support/bytes.ts";
import { type Step, suite } from "../support/suite.ts";
import { Dav, ifToken, propertyIn, tokenOf } from "./support/dav.ts";

const add = suite("WebDAV talks with clients as they are", { twin: false });

function test(sentence: string, run: (dav: Dav, drive: Parameters<Step>[0]) => Promise<void>) {
  add(sentence, async (drive) => {
    const dav = new Dav(drive);
    await dav.make();
    await run(dav, drive);
  });
}

const FINDER = { "User-Agent": "WebDAVFS/3.0.0 (03008000) Darwin/23.0.0 (x86_64)" };
const FINDER_PROPS =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:propfind xmlns:D="DAV:">\n<D:prop>\n' +
  "<D:getlastmodified/>\n<D:getcontentlength/>\n<D:creationdate/>\n<D:resourcetype/>\n" +
  "</D:prop>\n</D:propfind>\n";
const FINDER_QUOTA =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:propfind xmlns:D="DAV:">\n<D:prop>\n' +
  "<D:quota-available-bytes/>\n<D:quota-used-bytes/>\n<D:quota/>\n<D:quotaused/>\n</D:prop>\n</D:propfind>\n";
const FINDER_LOCK = '<?xml version="1.0" encoding="utf-8"?>\n<D:lockinfo xmlns:D="DAV:">\n' +
  "<D:lockscope><D:exclusive/></D:lockscope>\n<D:locktype><D:write/></D:locktype>\n<D:owner>\n" +
  "<D:href>http://www.apple.com/webdav_fs/</D:href>\n</D:owner>\n</D:lockinfo>\n";

test(
  "Finder copies a file to a drive: a lock, a body without a length, its attributes.",
  async (dav, drive) => {
    (await dav.send("OPTIONS", "", { headers: { ...FINDER, Accept: "*/*" } })).expect(200);
    const ask = (name: string, body: string, depth = "0") =>
      dav.send("PROPFIND", name, { body, headers: { ...FINDER, Depth: depth } });
    (await ask("", FINDER_PROPS)).expect(207);
    assertStringIncludes((await ask("", FINDER_QUOTA)).expect(207).text, "<D:quota-used-bytes>");
    for (const name of ["photo.jpg", "._photo.jpg", ".DS_Store"]) {
      (await ask(name, FINDER_PROPS)).expect(404);
      (await dav.send("PUT", name, { headers: FINDER })).expect(201);
      const lock = await dav.send("LOCK", name, {
        body: FINDER_LOCK,
        headers: { ...FINDER, Depth: "0", Timeout: "Second-600" },
      });
      const token = tokenOf(lock.expect(200));
      const bytes = patternBytes(200_000);
      const body = new Blob([bytes]).stream() as ReadableStream<Uint8Array<ArrayBuffer>>;
      (await dav.send("PUT", name, {
        body,
        headers: { ...FINDER, ...ifToken(token), "X-Expected-Entity-Length": "200000" },
      })).expect(204);
      const known = (await ask(name, FINDER_PROPS)).expect(207);
      assertEquals(propertyIn(known, "getcontentlength"), "200000");
      (await dav.send("LOCK", name, {
        headers: { ...FINDER, ...ifToken(token), Timeout: "Second-600" },
      })).expect(200);
      (await dav.unlock(name, token)).expect(204);
    }
    assertEquals(await drive.names(), [".DS_Store", "._photo.jpg", "photo.jpg"]);
  },
);

const EXPLORER = { "User-Agent": "Microsoft-WebDAV-MiniRedir/10.0.19045", Translate: "f" };

test(
  "Explorer stores a file: an empty one first, a lock, the bytes, its times.",
  async (dav, drive) => {
    const send = (
      method: string,
      name: string,
      headers: Record<string, string> = {},
      body?: string,
    ) =>
      dav.send(method, name, {
        headers: { ...EXPLORER, ...headers },
        ...body === undefined ? {} : { body },
      });
    (await dav.sendTo("OPTIONS", "/", { key: null, headers: EXPLORER })).expect(200);
    (await send("PROPFIND", "", { Depth: "0" })).expect(207);
    (await send("PROPFIND", "", { Depth: "1" })).expect(207);
    (await send("PROPFIND", "report.txt", { Depth: "0" })).expect(404);
    (await send("PUT", "report.txt")).expect(201);
    const lockinfo =
      '<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope>' +
      "<D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>" +
      "<D:href>DESKTOP\\user</D:href></D:owner></D:lockinfo>";
    const lock = await send("LOCK", "report.txt", { Timeout: "Second-3600" }, lockinfo);
    const token = tokenOf(lock.expect(200));
    const patch = '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" ' +
      'xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>' +
      "<Z:Win32CreationTime>Mon, 01 Jan 2001 01:02:03 GMT</Z:Win32CreationTime>" +
      "<Z:Win32LastAccessTime>Tue, 02 Jan 2001 01:02:03 GMT</Z:Win32LastAccessTime>" +
      "<Z:Win32LastModifiedTime>Wed, 03 Jan 2001 01:02:03 GMT</Z:Win32LastModifiedTime>" +
      "<Z:Win32FileAttributes>00000000</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>";
    (await send("HEAD", "report.txt")).expect(200);
    (await send("PUT", "report.txt", ifToken(token), "Quarterly numbers")).expect(204);
    const patched = (await send("PROPPATCH", "report.txt", ifToken(token), patch)).expect(207);
    assert(!/HTTP\/1\.1 [45]/.test(patched.text), patched.text);
    (await dav.unlock("report.txt", token)).expect(204);
    const [file] = await drive.details();
    assertEquals(file?.mtime, "2001-01-03T01:02:03.000Z");
    assertEquals(await drive.text("report.txt"), "Quarterly numbers");
    (await send("MKCOL", "New folder")).expect(201);
    (await send("PROPPATCH", "New folder", {}, patch)).expect(207);
    const moved = { Destination: dav.url("New folder/report.txt"), Overwrite: "F" };
    (await send("MOVE", "report.txt", moved)).expect(201);
    const listed = (await send("PROPFIND", "New folder", { Depth: "1" })).expect(207);
    assertStringIncludes(listed.text, "Mon, 01 Jan 2001 01:02:03 GMT");
  },
);

test(
  "Office saves: a lock on the document, a temporary name, a move over it.",
  async (dav, drive) => {
    await dav.put("plan.docx", "first");
    const token = await dav.lock("plan.docx", { headers: { Timeout: "Second-3600" } });
    const owner = await dav.lock("~$plan.docx");
    (await dav.put("~$plan.docx", "user", ifToken(owner))).expect(204);
    (await dav.put("A1B2C3.tmp", "second")).expect(201);
    (await dav.transfer("MOVE", "A1B2C3.tmp", "plan.docx", { Overwrite: "T" })).expect(423);
    const tagged = { If: `<${dav.url("plan.docx")}> (<${token}>)`, Overwrite: "T" };
    (await dav.transfer("MOVE", "A1B2C3.tmp", "plan.docx", tagged)).expect(204);
    assertEquals(await dav.text("plan.docx"), "second");
    (await dav.put("plan.docx", "third")).expect(423);
    (await dav.put("plan.docx", "third", ifToken(token))).expect(204);
    (await dav.send("DELETE", "~$plan.docx", { headers: ifToken(owner) })).expect(204);
    (await dav.unlock("plan.docx", token)).expect(204);
    assertEquals(await drive.names(), ["plan.docx"]);
  },
);

test("davfs2 locks a name with all depth before there is a file, and renews.", async (dav) => {
  const answer = (await dav.tryLock("notes", {
    depth: "infinity",
    headers: { Timeout: "Second-1800" },
  })).expect(201);
  const token = tokenOf(answer);
  assertStringIncludes(answer.text, "<D:depth>0</D:depth>");
  (await dav.send("HEAD", "notes")).expect(200);
  (await dav.put("notes", "text", ifToken(token))).expect(204);
  (await dav.send("LOCK", "notes", { headers: ifToken(token) })).expect(200);
  (await dav.unlock("notes", token)).expect(204);
});

test(
  "A name in decomposed form finds the file that was stored in the other, and is kept if it is new.",
  async (dav, drive) => {
    const [nfc, nfd] = ["Übung é".normalize("NFC"), "Übung é".normalize("NFD")];
    await drive.put(`${nfc}/${nfc}.txt`, "composed");
    assertEquals(await dav.text(`${nfd}/${nfd}.txt`), "composed");
    (await dav.put(`${nfd}/${nfd}.txt`, "again")).expect(204);
    (await dav.put(`${nfd}/new ${nfd}.txt`, "new")).expect(201);
    (await dav.send("MKCOL", nfd)).expect(405);
    assertEquals(await drive.names(), [`${nfc}/new ${nfd}.txt`, `${nfc}/${nfc}.txt`].sort());
    assertEquals(await dav.text(`${nfc}/new ${nfc}.txt`), "new");
    (await dav.transfer("MOVE", `${nfd}/new ${nfd}.txt`, `${nfd}/${nfd}.txt`)).expect(204);
    (await dav.send("DELETE", `${nfd}/${nfd}.txt`)).expect(204);
    assertEquals(await drive.names(), []);
  },
);

test("Names in both forms are two files, each found by its own.", async (dav, drive) => {
  const [nfc, nfd] = ["é".normalize("NFC"), "é".normalize("NFD")];
  await drive.putAll([nfc, nfd]);
  assertEquals(await dav.text(nfc), nfc);
  assertEquals(await dav.text(nfd), nfd);
  (await dav.send("DELETE", nfd)).expect(204);
  assertEquals(await drive.names(), [nfc]);
});
