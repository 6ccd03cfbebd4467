import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Step, suite } from "../support/suite.ts";
import { Dav, hrefsIn, makeKey, NAMES, propertyIn } from "./support/dav.ts";

const add = suite("WebDAV has properties", { twin: false });

function test(sentence: string, run: (dav: Dav, drive: Parameters<Step>[0]) => Promise<void>) {
  add(sentence, async (drive) => {
    const dav = new Dav(drive);
    await dav.make();
    await run(dav, drive);
  });
}

const props = (inner: string) => `<propfind xmlns="DAV:"><prop>${inner}</prop></propfind>`;

async function proppatch(dav: Dav, name: string, inner: string): Promise<string> {
  const body = `<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:z">${inner}` +
    "</D:propertyupdate>";
  return (await dav.send("PROPPATCH", name, { body })).expect(207).text;
}

const set = (inner: string) => `<D:set><D:prop>${inner}</D:prop></D:set>`;
const remove = (inner: string) => `<D:remove><D:prop>${inner}</D:prop></D:remove>`;

test("A file has the properties of the standard, in its forms of dates.", async (dav) => {
  const etag = (await dav.put("a.txt", "hello")).header("ETag");
  for (const body of [undefined, '<propfind xmlns="DAV:"><allprop/></propfind>']) {
    const answer = await dav.propfind("a.txt", "0", body);
    assertEquals(propertyIn(answer, "getcontentlength"), "5");
    assertEquals(propertyIn(answer, "getetag"), etag);
    assertEquals(propertyIn(answer, "displayname"), "a.txt");
    assertMatch(propertyIn(answer, "getcontenttype") ?? "", /^text\/plain/);
    assertMatch(propertyIn(answer, "creationdate") ?? "", /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assertMatch(
      propertyIn(answer, "getlastmodified") ?? "",
      /^\w{3}, \d\d \w{3} \d{4} [\d:]+ GMT$/,
    );
    assertStringIncludes(answer.text, "<D:resourcetype/>");
    assert(!answer.text.includes("quota-"), "quotas are not among all properties");
  }
});

test("The names of all properties are asked for, or some properties.", async (dav) => {
  await dav.put("a", "x");
  const names = await dav.propfind("a", "0", '<propfind xmlns="DAV:"><propname/></propfind>');
  assertStringIncludes(names.text, "<D:getetag/>");
  const some = await dav.propfind("a", "0", props('<getcontentlength/><x xmlns="urn:x"/><none/>'));
  assertEquals(propertyIn(some, "getcontentlength"), "1");
  const [, found = "", missing = ""] = some.text.split("<D:propstat>");
  assertStringIncludes(found, "HTTP/1.1 200 OK");
  assertStringIncludes(missing, '<x:x xmlns:x="urn:x"/><D:none/>');
  assertStringIncludes(missing, "HTTP/1.1 404 Not Found");
});

test("A depth without end is refused, and a missing one is that of a list.", async (dav) => {
  await dav.put("a", "x");
  const endless = await dav.send("PROPFIND", "", { headers: { Depth: "infinity" } });
  assertStringIncludes(endless.expect(403).text, "<D:propfind-finite-depth/>");
  (await dav.send("PROPFIND", "", { headers: { Depth: "2" } })).expect(400);
  assertEquals(hrefsIn((await dav.send("PROPFIND", "")).expect(207)).length, 2);
  (await dav.send("PROPFIND", "absent", { headers: { Depth: "0" } })).expect(404);
});

test("No property makes a list that parsers refuse.", async (dav) => {
  await dav.put("a", "x");
  const property = "<xml:p>1</xml:p>";
  const body =
    `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>${property}</D:prop></D:set></D:propertyupdate>`;
  (await dav.send("PROPPATCH", "a", { body })).expect(400);
  const { text } = await dav.propfind("", "1");
  // "Other prefixes MUST NOT be bound to this namespace name" (Namespaces in XML, 3).
  assert(!text.includes("http://www.w3.org/XML/1998/namespace"), text);
});

test("A body that asks for nothing, or is no such XML, is 400.", async (dav) => {
  const bodies = [
    "<propfind xmlns='DAV:'/>",
    "<propfind xmlns='DAV:'><prop/><allprop/></propfind>",
    "<propfind><prop/></propfind>",
    "<other xmlns='DAV:'/>",
    "no xml",
    "<propfind xmlns='DAV:'><prop>",
    '<!DOCTYPE a [<!ENTITY b "lol">]><propfind xmlns="DAV:"><prop><a>&b;</a></prop></propfind>',
    `<propfind xmlns="DAV:"><prop>${"<a/>".repeat(3000)}</prop></propfind>`,
    `<propfind xmlns="DAV:"><prop>${"<a>".repeat(50)}${"</a>".repeat(50)}</prop></propfind>`,
  ];
  for (const body of bodies) {
    const answer = await dav.send("PROPFIND", "", { body, headers: { Depth: "1" } });
    assertEquals(answer.status, 400, body.slice(0, 100));
  }
  const large = `<propfind xmlns="DAV:"><prop><a>${"x".repeat(70_000)}</a></prop></propfind>`;
  (await dav.send("PROPFIND", "", { body: large })).expect(413);
});

test(
  "Properties of clients are kept with the file, whatever happens to it.",
  async (dav, drive) => {
    await dav.put("a", "one");
    const value =
      '<Z:author Z:role="x&amp;y" xml:lang="de">Änne <Z:b>&lt;bold&gt;</Z:b></Z:author>';
    assertStringIncludes(await proppatch(dav, "a", set(value)), "200 OK");
    const asked = props('<author xmlns="urn:z"/>');
    const check = async (name: string) => {
      const { text } = await dav.propfind(name, "0", asked);
      assertStringIncludes(text, "Änne ");
      assertStringIncludes(text, 'xml:lang="de"');
      assertStringIncludes(text, "&lt;bold&gt;");
      assertStringIncludes((await dav.propfind("", "1")).text, "Änne ");
    };
    await check("a");
    const etag = await drive.etag("a");
    assertStringIncludes(await proppatch(dav, "a", set("<Z:second>2</Z:second>")), "200 OK");
    assertEquals(await drive.etag("a"), etag, "the bytes are the same");
    await dav.put("a", "two");
    await check("a");
    await dav.transfer("COPY", "a", "b");
    await check("b");
    await dav.transfer("MOVE", "b", "c");
    await check("c");
    const [details] = await drive.details() as unknown as { properties: Record<string, string> }[];
    assertEquals(Object.keys(details?.properties ?? {}).sort(), ["{urn:z}author", "{urn:z}second"]);
    const usage = await drive.usage();
    assert((usage?.bytes ?? 0) > 100, "properties count towards the quota");
    await proppatch(dav, "a", remove("<Z:author/><Z:second/><Z:never/>"));
    await proppatch(dav, "c", remove("<Z:author/><Z:second/>"));
    assertStringIncludes((await dav.propfind("a", "0", asked)).text, "404 Not Found");
    assertEquals(await drive.usage(), { files: 2, bytes: 6 });
  },
);

test("Instructions are followed in their order, all of them or none.", async (dav) => {
  await dav.put("a", "x");
  await proppatch(dav, "a", set("<Z:p>1</Z:p>") + remove("<Z:p/>") + set("<Z:p>2</Z:p>"));
  const value = async () => (await dav.propfind("a", "0", props('<p xmlns="urn:z"/>'))).text;
  assertStringIncludes(await value(), ">2</x:p>");
  const refused = await proppatch(dav, "a", set("<Z:p>3</Z:p><D:getetag>x</D:getetag>"));
  assertStringIncludes(refused, "HTTP/1.1 424 Failed Dependency");
  assertStringIncludes(refused, "HTTP/1.1 403 Forbidden");
  assertStringIncludes(refused, "<D:cannot-modify-protected-property/>");
  assertStringIncludes(await value(), ">2</x:p>");
});

test("A file keeps 4 KB of properties, and no more.", async (dav) => {
  await dav.put("a", "x");
  const large = await proppatch(dav, "a", set(`<Z:p>${"x".repeat(4000)}</Z:p>`));
  assertStringIncludes(large, "200 OK");
  const more = await proppatch(dav, "a", set(`<Z:q>${"x".repeat(200)}</Z:q>`));
  assertStringIncludes(more, "507 Insufficient Storage");
  const names = await dav.propfind("a", "0", '<propfind xmlns="DAV:"><propname/></propfind>');
  assert(!names.text.includes("x:q"), names.text);
});

test("The time that Windows sets is the mtime of the file.", async (dav, drive) => {
  await dav.put("a", "x");
  const time = "Tue, 22 Mar 2005 12:00:00 GMT";
  const inner = '<W:Win32LastModifiedTime xmlns:W="urn:schemas-microsoft-com:">' +
    `${time}</W:Win32LastModifiedTime>` +
    '<W:Win32FileAttributes xmlns:W="urn:schemas-microsoft-com:">00000020</W:Win32FileAttributes>';
  assertStringIncludes(await proppatch(dav, "a", set(inner)), "200 OK");
  const [details] = await drive.details();
  assertEquals(details?.mtime, "2005-03-22T12:00:00.000Z");
  assertEquals(propertyIn(await dav.propfind("a", "0"), "getlastmodified"), time);
  const wrong = set(
    '<W:Win32LastModifiedTime xmlns:W="urn:schemas-microsoft-com:">1</W:Win32LastModifiedTime>',
  );
  assertStringIncludes(await proppatch(dav, "a", wrong), "409 Conflict");
  await dav.put("a", "new bytes");
  assertEquals((await drive.details())[0]?.mtime, undefined);
});

test("A folder takes the times of Windows, and keeps no properties.", async (dav) => {
  await dav.send("MKCOL", "folder");
  const windows =
    '<W:Win32CreationTime xmlns:W="urn:schemas-microsoft-com:">x</W:Win32CreationTime>';
  assertStringIncludes(await proppatch(dav, "folder/", set(windows)), "200 OK");
  assertStringIncludes(await proppatch(dav, "folder/", set("<Z:p>1</Z:p>")), "403 Forbidden");
});

test("Clients of Nextcloud set the time with their upload.", async (dav, drive) => {
  const answer = await dav.put("a", "x", { "X-OC-Mtime": "1111492800" });
  assertEquals(answer.header("X-OC-MTime"), "accepted");
  assertEquals((await drive.details())[0]?.mtime, "2005-03-22T12:00:00.000Z");
});

test("A time that the drive API could not show is not taken.", async (dav, drive) => {
  for (const seconds of ["999999999999", "-99999999999", "-0x1", ""]) {
    const answer = await dav.put("a", "x", { "X-OC-Mtime": seconds });
    assertEquals(answer.headers.get("X-OC-MTime"), null, seconds);
    assertEquals((await drive.details())[0]?.mtime, undefined, seconds);
  }
});

test("A list of a folder names its address with a slash.", async (dav) => {
  (await dav.send("MKCOL", "f")).expect(201);
  const { headers } = await dav.propfind("f", "0");
  assertEquals(headers.get("Content-Location"), dav.path("f/"));
  assertEquals((await dav.propfind("f/", "0")).headers.get("Content-Location"), null);
  await dav.put("f/a", "x");
  assertEquals((await dav.propfind("f/a", "0")).headers.get("Content-Location"), null);
});

test("Quotas show to keys of the whole project.", async (dav, drive) => {
  await dav.put("a", "0123456789");
  const body = props("<quota-used-bytes/><quota-available-bytes/>");
  const answer = await dav.propfind("", "0", body);
  assert(Number(propertyIn(answer, "quota-used-bytes")) >= 10, answer.text);
  const key = await makeKey(drive, { name_prefix: "b", permissions: ["list"] });
  const limited = await dav.send("PROPFIND", "", { body, key, headers: { Depth: "0" } });
  assertEquals(propertyIn(limited.expect(207), "quota-used-bytes"), undefined);
});

test("A folder of several pages is listed whole, in pieces.", async (dav, drive) => {
  const names = Array.from({ length: 2500 }, (_, i) => `f/${String(i).padStart(5, "0")}`);
  await drive.fill(names);
  const answer = await dav.propfind("f/", "1", NAMES);
  assertEquals(answer.headers.get("Content-Length"), null);
  assertEquals(hrefsIn(answer).length, names.length + 1);
  assert(answer.text.endsWith("</D:multistatus>"));
});

test("A long namespace is not repeated for each property of a request.", async (dav) => {
  await dav.put("a", "x");
  const names = Array.from({ length: 1000 }, (_, i) => `<n:p${i}/>`).join("");
  const prop = `<prop xmlns:n="urn:${"x".repeat(20_000)}">${names}</prop>`;
  const bodies: [string, string][] = [
    ["PROPFIND", `<propfind xmlns="DAV:">${prop}</propfind>`],
    ["PROPPATCH", `<propertyupdate xmlns="DAV:"><set>${prop}</set></propertyupdate>`],
  ];
  for (const [method, body] of bodies) {
    const answer = await dav.send(method, "a", { headers: { Depth: "0" }, body });
    assert(answer.status === 400 && answer.bytes.length < 1000, `${method}: ${answer.status}`);
  }
});

test("A list of many properties is sent in pieces, and whole.", async (dav, drive) => {
  await drive.fill(Array.from({ length: 300 }, (_, i) => `f${i}`));
  const names = Array.from({ length: 200 }, (_, i) => `<p${i} xmlns="urn:x"/>`).join("");
  const answer = await dav.propfind(
    "",
    "1",
    `<propfind xmlns="DAV:"><prop>${names}</prop></propfind>`,
  );
  assertEquals(answer.headers.get("Content-Length"), null);
  assertEquals(hrefsIn(answer).length, 301);
  assertEquals(answer.text.match(/<\/D:response>/g)?.length, 301);
  assert(answer.text.endsWith("</D:multistatus>"));
});
