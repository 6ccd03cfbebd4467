import { assertEquals, assertStringIncludes } from "@std/assert";
import { administer, ADMINISTERED, Project, withKey } from "../../support/admin.ts";
import { MIN_PART, patternBytes, utf8 } from "../../support/bytes.ts";
import { Drive, type Listing, query, send, Upload } from "../../support/drive.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Keys with fewer rights see and change what they may", ADMINISTERED);

interface Scene {
  project: Project;
  /** The drive as the owner sees it. */
  drive: Drive;
  /** The drive as a key with these limits sees it. */
  as(limits: unknown): Promise<Drive>;
}

async function prepare({ server }: Drive, names: readonly string[] = []): Promise<Scene> {
  const project = await Project.make(server);
  const drive = project.drive("photos");
  await drive.putAll(names);
  const as = async (limits: unknown) =>
    project.with((await project.makeKey(limits)).project_key).drive("photos");
  return { project, drive, as };
}

const PERMISSIONS = ["read", "write", "delete", "list", "admin"];

/** Every call of the file API, and the permission that it needs. */
const CALLS: [string, string, string][] = [
  ["read", "GET", "/files/download?name=a"],
  ["read", "HEAD", "/files/download?name=a"],
  ["list", "GET", "/files"],
  ["list", "HEAD", "/files?recursive=false&details=true"],
  ["list", "GET", "/uploads"],
  ["list", "GET", "/uploads/{id}?name=u"],
  ["list", "GET", ""],
  ["write", "POST", "/files?name=a"],
  ["write", "POST", "/uploads?name=b"],
  ["write", "POST", "/uploads/{id}/parts?name=u&part=1"],
  ["write", "PATCH", "/uploads/{id}?name=u"],
  ["write", "DELETE", "/uploads/{id}?name=u"],
  ["delete", "DELETE", "/files?names=a"],
];

for (const [permission, method, template] of CALLS) {
  const what = `${method} ${template || "/v1/{project_id}"}`;

  test(`${what} needs the permission ${permission} and no other.`, async (given) => {
    const { project, drive, as } = await prepare(given, ["a"]);
    const { id } = await Upload.start(drive, "u");
    const call = async (limits: { permissions: string[] }) => {
      const { owner: { key } } = await as(limits);
      const path = template.replace("{id}", id);
      const [base, options] = [`/v1/${project.id}`, { as: withKey(key) }];
      return await administer(
        given.server,
        method,
        path === "" ? base : `${base}/photos${path}`,
        options,
      );
    };
    const others = PERMISSIONS.filter((one) => one !== permission);
    const answer = await drive.unchangedBy(() => call({ permissions: others }));
    answer.expect(403);
    if (method !== "HEAD") {
      assertErrorAnswer(answer);
      assertStringIncludes(answer.text, `does not have the permission \\"${permission}\\"`);
    }
    const { status } = await call({ permissions: [permission] });
    assertEquals([200, 201, 202].includes(status), true, `${status}`);
  });

  if (template === "") continue;

  test(`${what} is 403 for a key of another drive.`, async (given) => {
    const { drive, as } = await prepare(given, ["a"]);
    const { id } = await Upload.start(drive, "u");
    for (const drives of [["Photos"], ["photos2", "photo"], ["__proto__"]]) {
      const other = await as({ drives });
      const path = template.replace("{id}", id);
      const answer = await drive.unchangedBy(() => other.send(method, path));
      answer.expect(403);
      if (method === "HEAD") continue;
      assertErrorAnswer(answer);
      assertStringIncludes(answer.text, 'the drive \\"photos\\"');
    }
    const own = await as({ drives: ["other", "photos"] });
    const { status } = await own.send(method, template.replace("{id}", id));
    assertEquals([200, 201, 202].includes(status), true, `${status}`);
  });

  if (!template.includes("name")) continue;

  test(`${what} is 403 for a key of other names.`, async (given) => {
    const { drive, as } = await prepare(given, ["a"]);
    const { id } = await Upload.start(drive, "u");
    for (const name_prefix of ["ab", "A", "a/", "ua", "/a", "x"]) {
      const other = await as({ name_prefix });
      const path = template.replace("{id}", id);
      const answer = await drive.unchangedBy(() => other.send(method, path));
      answer.expect(403);
      if (method === "HEAD") continue;
      assertErrorAnswer(answer);
      assertStringIncludes(
        answer.text,
        `only for names that begin with ${JSON.stringify(name_prefix).replaceAll('"', '\\"')}`,
      );
    }
  });
}

test("An unknown upload, and one of another name, tell a limited key no more than their absence.", async (given) => {
  const { drive, as } = await prepare(given);
  const secret = await Upload.start(drive, "private/a");
  const limited = await as({ name_prefix: "public/" });
  for (const name of ["private/a", "private/", "public/../private/a"]) {
    const upload = secret.as({ drive: limited, name });
    const status = name.startsWith("public/") ? 400 : name.endsWith("/") ? 400 : 403;
    for (const call of [() => upload.lookUp(), () => upload.complete(), () => upload.abort()]) {
      const answer = (await drive.unchangedBy(call)).expect(status);
      if (status === 400) assertEquals(answer.text.includes("private/a"), false, answer.text);
    }
    (await upload.send(1, utf8("x"))).expect(status);
  }
});

test("What one key has begun another completes only if it is for that name.", async (given) => {
  const { drive, as } = await prepare(given);
  const upload = await Upload.start(drive, "in/a");
  (await upload.send(1, patternBytes(MIN_PART, 1))).expect(200);
  const wrong = upload.as({ drive: await as({ name_prefix: "in/b" }) });
  for (const call of [() => wrong.complete(), () => wrong.abort(), () => wrong.lookUp()]) {
    (await drive.unchangedBy(call)).expect(403);
  }
  const right = upload.as({ drive: await as({ name_prefix: "in/", permissions: ["write"] }) });
  (await right.send(2, utf8("end"))).expect(200);
  (await right.complete()).expect(200);
  (await right.complete()).expect(200);
  assertEquals(await drive.names(), ["in/a"]);
});

test("A key of a prefix lists the names that begin with it, whatever prefix it asks for.", async (given) => {
  const names = ["a", "a/b", "a/b/c", "a/bc", "a/c", "ab", "b/a"];
  const { as } = await prepare(given, names);
  const cases: [string, Record<string, string>, string[]][] = [
    ["a/b", {}, ["a/b", "a/b/c", "a/bc"]],
    ["a/b", { prefix: "" }, ["a/b", "a/b/c", "a/bc"]],
    ["a/b", { prefix: "a" }, ["a/b", "a/b/c", "a/bc"]],
    ["a/b", { prefix: "a/bc" }, ["a/bc"]],
    ["a/b", { prefix: "a/b/" }, ["a/b/c"]],
    ["a/b", { prefix: "a/c" }, []],
    ["a/b", { prefix: "b" }, []],
    ["a/b", { prefix: "A" }, []],
    ["a/b", { last: "a" }, ["a/b", "a/b/c", "a/bc"]],
    ["a/b", { last: "a/b" }, ["a/b/c", "a/bc"]],
    ["a/b", { last: "a/c" }, []],
    ["a/b", { last: "zzz" }, []],
    ["a/b", { last: "a/b\uffff" }, []],
    ["a", { prefix: "a/" }, ["a/b", "a/b/c", "a/bc", "a/c"]],
    ["a", {}, names.slice(0, 6)],
    ["a/b/c/d", {}, []],
    ["nothing", { prefix: "" }, []],
  ];
  for (const [name_prefix, asked, shown] of cases) {
    const drive = await as({ name_prefix, permissions: ["list"] });
    const about = `${name_prefix} ${JSON.stringify(asked)}`;
    assertEquals(await drive.list(asked), { names: shown }, about);
    const details = await drive.list({ ...asked, details: "true" });
    assertEquals(details.files?.map(({ name }) => name), shown, about);
  }
});

test("A key of a prefix sees of the folders above it only the path to it.", async (given) => {
  const { as } = await prepare(given, [
    "a/b/c/d/e",
    "a/b/c/f",
    "a/b/other",
    "a/x/y",
    "a.txt",
    "z/z",
  ]);
  const folders: [string, Record<string, string>, string[]][] = [
    ["a/b/c/", {}, ["a/"]],
    ["a/b/c/", { prefix: "a" }, ["a/"]],
    ["a/b/c/", { prefix: "a/" }, ["a/b/"]],
    ["a/b/c/", { prefix: "a/b" }, ["a/b/"]],
    ["a/b/c/", { prefix: "a/b/" }, ["a/b/c/"]],
    ["a/b/c/", { prefix: "a/b/c" }, ["a/b/c/"]],
    ["a/b/c/", { prefix: "a/b/c/" }, ["a/b/c/d/", "a/b/c/f"]],
    ["a/b/c/", { prefix: "a/b/c/d/" }, ["a/b/c/d/e"]],
    ["a/b/c/", { prefix: "a/x/" }, []],
    ["a/b/c/", { prefix: "z/" }, []],
    ["a/b/c/", { last: "a" }, ["a/"]],
    ["a/b/c/", { last: "a/" }, []],
    ["a/b/c/", { last: "a/a" }, []],
    ["a/b/c/", { prefix: "a/", last: "a/b/c" }, []],
    ["a/b/c/", { prefix: "a/b/c/", last: "a/b/c/d/" }, ["a/b/c/f"]],
    ["a/b", { prefix: "a/" }, ["a/b/"]],
    ["a/b", { prefix: "a/b/" }, ["a/b/c/", "a/b/other"]],
    ["a", {}, ["a.txt", "a/"]],
    ["a/b/none", {}, []],
    ["a/b/none", { prefix: "a/b/" }, []],
    ["q/r", {}, []],
  ];
  for (const [name_prefix, asked, shown] of folders) {
    const drive = await as({ name_prefix, permissions: ["list"] });
    const about = `${name_prefix} ${JSON.stringify(asked)}`;
    assertEquals(await drive.list({ ...asked, recursive: "false" }), { names: shown }, about);
    const details = await drive.list({ ...asked, recursive: "false", details: "true" });
    assertEquals(details.files?.map(({ name }) => name), shown, about);
  }
});

test("Pages of a key of a prefix end with its names.", async (given) => {
  const names = ["a", "in/1", "in/2", "in/3", "z"];
  const { as } = await prepare(given, names);
  const drive = await as({ name_prefix: "in/" });
  const pages: Listing[] = [];
  for (let last = ""; pages.length < 9;) {
    const page = await drive.list({ limit: 2, last });
    pages.push(page);
    if (page.paging === undefined) break;
    last = page.paging.last;
  }
  assertEquals(pages, [
    { names: ["in/1", "in/2"], paging: { size: 2, last: "in/2" } },
    { names: ["in/3"] },
  ]);
});

test("Names of a prefix are compared byte for byte.", async (given) => {
  const names = ["é/1", "e\u0301/1", "É/1", "\u{1f600}/1", "\uffff/1"];
  const { drive, as } = await prepare(given, names);
  for (const name of names) {
    const limited = await as({ name_prefix: name.slice(0, -1) });
    assertEquals(await limited.names(), [name]);
    for (const other of names) {
      assertEquals((await limited.get(other)).status, other === name ? 200 : 403);
    }
  }
  assertEquals((await drive.names()).length, 5);
});

test("A name is what it is, and no path.", async (given) => {
  const { drive, as } = await prepare(given, ["in/../secret", "secret", "/in/a", "in//a"]);
  const limited = await as({ name_prefix: "in/" });
  assertEquals(await limited.names(), ["in/../secret", "in//a"]);
  assertEquals(await limited.text("in/../secret"), "in/../secret");
  for (const name of ["secret", "/in/a", "./in/../secret", "IN/a", " in/a", "in", "\0in/a"]) {
    const { status } = await limited.get(name);
    assertEquals(status, name.includes("\0") ? 400 : 403, name);
    (await drive.unchangedBy(() =>
      limited.send("POST", `/files${query({ name })}`, {
        body: "x",
      })
    )).expect(status);
  }
});

test("Deleting names of which one is not for the key is 403, and deletes none.", async (given) => {
  const { drive, as } = await prepare(given, ["in/a", "in/b", "out"]);
  const limited = await as({ name_prefix: "in/", permissions: ["delete"] });
  const bodies = [["in/a", "out"], ["in/a", "in"], ["in/a", ""], ["in/a", "out/none"]];
  for (const names of bodies) {
    const body = JSON.stringify({ names });
    const answer = await drive.unchangedBy(() => limited.send("DELETE", "/files", { body }));
    assertErrorAnswer(answer.expect(403));
    const inQuery = new URLSearchParams(names.map((name) => ["names", name]));
    (await drive.unchangedBy(() => limited.send("DELETE", `/files?${inQuery}`))).expect(403);
  }
  const body = JSON.stringify({ names: ["in/a", "in/none"] });
  assertEquals((await limited.send("DELETE", "/files", { body })).expect(200).json, {
    deleted: ["in/a", "in/none"],
    failed: [],
  });
  assertEquals(await drive.names(), ["in/b", "out"]);
});

test("Lists of uploads show a key of a prefix only its own.", async (given) => {
  const { drive, as } = await prepare(given);
  for (const name of ["in/1", "out", "in/2", "in", "in/3"]) await Upload.start(drive, name);
  const limited = await as({ name_prefix: "in/", permissions: ["list"] });
  const page = async (parameters: Record<string, string | number>) => {
    const answer = await limited.send("GET", `/uploads${query(parameters)}`);
    const { uploads, paging } = answer.expect(200).json as {
      uploads: { name: string }[];
      paging?: { last: string };
    };
    return { names: uploads.map(({ name }) => name), last: paging?.last };
  };
  assertEquals(await page({}), { names: ["in/1", "in/2", "in/3"], last: undefined });
  const first = await page({ limit: 2 });
  assertEquals(first.names, ["in/1", "in/2"]);
  assertEquals(await page({ limit: 2, last: first.last ?? "" }), {
    names: ["in/3"],
    last: undefined,
  });
});

test("Lists of drives show the drives of the key, and no counts that tell of other names.", async ({ server }) => {
  const project = await Project.make(server);
  for (const drive of ["a", "b", "c"]) await project.drive(drive).put("in/x", "x");
  const listed = async (limits: unknown) => {
    const { project_key: key } = await project.makeKey(limits);
    const answer = await send(server, "GET", `/v1/${project.id}`, { key });
    return (answer.expect(200).json as { drives: unknown }).drives;
  };
  const counted = (drive_name: string) => ({ drive_name, files: 1, bytes: 1 });
  const uncounted = (drive_name: string) => ({ drive_name, files: null, bytes: null });
  assertEquals(await listed({ permissions: ["list"] }), ["a", "b", "c"].map(counted));
  assertEquals(await listed({ drives: ["c", "a", "none"] }), ["a", "c"].map(counted));
  assertEquals(await listed({ drives: ["none"] }), []);
  assertEquals(await listed({ name_prefix: "in/" }), ["a", "b", "c"].map(uncounted));
  assertEquals(await listed({ name_prefix: "out", drives: ["b"] }), [uncounted("b")]);
});

test("A key that may only write stores and replaces files, and reads none.", async (given) => {
  const { drive, as } = await prepare(given, ["in/a"]);
  const box = await as({ permissions: ["write"], drives: ["photos"], name_prefix: "in/" });
  await box.put("in/a", "new");
  await box.put("in/b", "b");
  assertEquals([await drive.text("in/a"), await drive.text("in/b")], ["new", "b"]);
  (await box.get("in/a")).expect(403);
  const conditional = { headers: { "If-None-Match": "*" }, body: "x" };
  (await box.send("POST", "/files?name=in/a", conditional)).expect(412);
});

test("A key stays what it is with the administrator's token beside it.", async (given) => {
  const { drive, as } = await prepare(given, ["a"]);
  const limited = await as({ permissions: ["list"] });
  const headers = { Authorization: "Bearer token-of-the-administrator-0123456789" };
  assertErrorAnswer((await limited.get("a", headers)).expect(403));
  (await drive.send("GET", "/files/download?name=a", { key: null, headers })).expect(200);
});
