import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  administer,
  ADMINISTERED,
  administrator,
  type Caller,
  type NewKey,
  Project,
  withKey,
} from "../../support/admin.ts";
import { rawRequest, sendRaw } from "../../support/raw.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Keys with fewer rights administer what they may", ADMINISTERED);

function caller({ project_key }: NewKey): Caller {
  return withKey(project_key);
}

/** The sentence of a refused call. */
async function refused(
  project: Project,
  [method, path]: [string, string],
  { as, body, status = 403 }: { as: Caller; body?: unknown; status?: number },
): Promise<string> {
  const answer = (await project.call(method, path, { as, body })).expect(status);
  assertErrorAnswer(answer);
  return answer.errors.join();
}

const ADMINISTRATION: [string, string, unknown?][] = [
  ["GET", ""],
  ["HEAD", ""],
  ["PATCH", "", { trash_days: 3 }],
  ["GET", "/keys"],
  ["POST", "/keys", {}],
  ["DELETE", "/keys/{prefix}"],
  ["DELETE", "/drives/photos"],
  ["GET", "/apps"],
  ["POST", "/apps", { name: "more" }],
  ["GET", "/apps/notes"],
  ["PATCH", "/apps/notes", {}],
  ["DELETE", "/apps/notes"],
  ["GET", "/apps/notes/access"],
  ["PUT", "/apps/notes/access", { enabled: false }],
  ["GET", "/apps/notes/keys"],
  ["POST", "/apps/notes/keys", { name: "more" }],
  ["DELETE", "/apps/notes/keys/ci"],
];

for (const [method, path, body] of ADMINISTRATION) {
  test(`${method} ${path || "of a project"} is 403 for a key without the permission admin, and nothing changes.`, async ({ server }) => {
    const project = await Project.make(server);
    await project.drive("photos").put("cat.jpg", "cat");
    const app = await project.makeProtectedApp("notes");
    await project.makeAppKey(app, { name: "ci" });
    const { prefix } = await project.makeKey();
    const key = await project.makeKey({ permissions: ["read", "write", "delete", "list"] });
    const target = project.path + path.replace("{prefix}", prefix);
    const as = caller(key);
    const before = await stateOf(project);
    // The permission comes before the parameters and the body.
    for (const sent of [body, "not JSON"]) {
      const answer = await administer(server, method, target, {
        as,
        ...(method === "GET" || method === "HEAD" ? {} : { body: sent }),
      });
      answer.expect(403);
      if (method !== "HEAD") {
        assertErrorAnswer(answer);
        assertStringIncludes(answer.text, 'does not have the permission \\"admin\\"');
      }
    }
    assertEquals(await stateOf(project), before);
  });
}

async function stateOf(project: Project): Promise<unknown> {
  const paths = ["/apps", "/apps/notes/access", "/apps/notes/keys"];
  const { drives } = (await project.call("GET", "")).json as { drives: unknown };
  return [
    drives,
    (await project.keys()).map(({ last_used: _, ...key }) => key),
    ...await Promise.all(paths.map(async (path) => (await project.call("GET", path)).json)),
  ];
}

test("The permission is checked after the project, and before the parameters and the body.", async ({ server }) => {
  const project = await Project.make(server);
  const other = await Project.make(server);
  const { project_key } = await project.makeKey({ permissions: ["write"] });
  assertStringIncludes(
    await refused(other, ["GET", "/keys"], { as: withKey(project_key) }),
    "of another project",
  );
  const drives = `/v1/${project.id}/photos`;
  for (
    const [method, path] of [
      ["GET", `${drives}/files?limit=%zz`],
      ["GET", `/v1/${project.id}/a%2Fb/files`],
      ["GET", `${drives}/files/download`],
      ["DELETE", `${drives}/files`],
      ["POST", `${project.path}/keys?x=%zz`],
    ] as const
  ) {
    // The body never comes: an answer means that it was not waited for.
    const headers = {
      "X-Api-Key": project_key,
      ...(method === "GET" ? {} : { "Content-Length": "100" }),
    };
    const answer = (await sendRaw(server.port, rawRequest(method, path, headers))).expect(403);
    assertErrorAnswer(answer);
  }
  const malformed = rawRequest("POST", `${drives}/files?name=%zz`, { "X-Api-Key": project_key });
  (await sendRaw(server.port, malformed)).expect(400);
  (await administer(server, "OPTIONS", `${drives}/files`, { as: withKey(project_key) }))
    .expect(204);
});

test("No key creates one with more rights than its own.", async ({ server }) => {
  const project = await Project.make(server);
  const own = {
    permissions: ["read", "list", "admin"],
    drives: ["a", "b"],
    name_prefix: "in/",
    expires_in: 600,
  };
  const as = caller(await project.makeKey(own));
  const more: [object, string][] = [
    [{ permissions: ["read", "write"] }, 'the permission \\"write\\"'],
    [{ permissions: null }, 'the permissions \\"write\\" and \\"delete\\"'],
    [{ drives: ["a", "c"] }, "more drives"],
    [{ drives: ["A"] }, "more drives"],
    [{ drives: null }, "more drives"],
    [{ name_prefix: "in" }, "more names"],
    [{ name_prefix: "IN/" }, "more names"],
    [{ name_prefix: null }, "more names"],
    [{ expires_in: 700 }, "expires later"],
    [{ expires_in: null }, "expires later"],
  ];
  for (const [change, part] of more) {
    const answer = await project.call("POST", "/keys", { as, body: { ...own, ...change } });
    assertErrorAnswer(answer.expect(403));
    assertStringIncludes(answer.text, part);
  }
  assertEquals((await project.keys()).length, 2);
  const fewer = [
    { ...own, expires_in: 500 },
    { permissions: ["list"], drives: ["b"], name_prefix: "in/x", expires_in: 1 },
  ];
  for (const limits of fewer) await project.makeKey(limits, as);
  // The administrator and the owner may create any.
  for (const every of [administrator, project.owner]) await project.makeKey({}, every);
});

test("A key creates none after it was revoked while the body came.", async ({ server }) => {
  const project = await Project.make(server);
  const key = await project.makeKey();
  let send = (_: string) => {};
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      send = (text) => {
        controller.enqueue(new TextEncoder().encode(text));
        if (text === "}") controller.close();
      };
    },
  });
  const url = `${server.origin}${project.path}/keys`;
  const call = fetch(url, { method: "POST", headers: { "X-Api-Key": key.project_key }, body });
  send("{");
  (await project.call("DELETE", `/keys/${key.prefix}`)).expect(200);
  send("}");
  const response = await call;
  await response.body?.cancel();
  assertEquals(response.status, 401);
  assertEquals((await project.keys()).length, 1);
});

test("A key that is limited to drives or names administers the keys within its limits, and no more.", async ({ server }) => {
  const project = await Project.make(server);
  await project.makeProtectedApp("notes");
  for (const drive of ["a", "b"]) await project.drive(drive).put("in/x", "x");
  const limited = await project.makeKey({ drives: ["a"] });
  const narrow = await project.makeKey({ drives: ["a"], name_prefix: "in/" });
  const other = await project.makeKey({ drives: ["b"] });
  const prefixesFor = async (key: NewKey) =>
    (await project.keys(caller(key))).map(({ prefix }) => prefix);
  assertEquals(await prefixesFor(limited), [limited.prefix, narrow.prefix]);
  assertEquals(await prefixesFor(narrow), [narrow.prefix]);
  for (const { prefix } of [other, (await project.keys())[0] ?? other]) {
    for (const as of [caller(limited), caller(narrow)]) {
      await refused(project, ["DELETE", `/keys/${prefix}`], { as, status: 404 });
    }
  }
  await refused(project, ["DELETE", `/keys/${limited.prefix}`], {
    as: caller(narrow),
    status: 404,
  });
  for (
    const call of [["GET", "/apps"], ["POST", "/apps"], ["DELETE", "/apps/notes"]] as [
      string,
      string,
    ][]
  ) {
    for (const as of [caller(limited), caller(narrow)]) {
      assertStringIncludes(await refused(project, call, { as }), "a key of the whole project");
    }
  }
  const shown = (await project.call("GET", "", { as: caller(limited) })).expect(200).json as {
    files: number;
    drives: unknown;
  };
  assertEquals(shown.drives, [{ drive_name: "a", files: 1, bytes: 1 }]);
  assertEquals(shown.files, 1);
  await refused(project, ["GET", ""], { as: caller(narrow) });
  await refused(project, ["DELETE", "/drives/a"], { as: caller(narrow) });
  await refused(project, ["DELETE", "/drives/b"], { as: caller(limited) });
  for (const [method, path] of [["DELETE", ""], ["PATCH", ""]] as const) {
    await refused(project, [method, path], { as: caller(limited), body: { max_bytes: 1 } });
  }
  (await project.call("DELETE", `/keys/${narrow.prefix}`, { as: caller(limited) })).expect(200);
  (await project.call("DELETE", "/drives/a", { as: caller(limited) })).expect(202);
  assertEquals(await project.drive("b").names(), ["in/x"]);
});

test("A key revokes only keys whose permissions it has itself.", async ({ server }) => {
  const project = await Project.make(server);
  const owner = (await project.keys())[0];
  assert(owner !== undefined);
  const admin = await project.makeKey({ permissions: ["admin"] });
  const reader = await project.makeKey({ permissions: ["read"] });
  const s3 = await project.makeS3Key({ permissions: ["read"] });
  const paths = [
    `/keys/${owner.prefix}`,
    `/keys/${reader.prefix}`,
    `/s3-keys/${s3.access_key_id}`,
  ];
  for (const path of paths) {
    const sentence = await refused(project, ["DELETE", path], { as: caller(admin) });
    assertStringIncludes(sentence, '"read"');
  }
  assertEquals((await project.keys(caller(admin))).length, 3);
  assertEquals((await project.s3Keys(caller(admin))).length, 1);
  // A key revokes those whose permissions it has itself.
  const own = await project.makeKey({ permissions: ["admin", "read"], expires_in: 600 });
  for (const path of paths.slice(1)) {
    (await project.call("DELETE", path, { as: caller(own) })).expect(200);
  }
  (await project.call("DELETE", `/keys/${own.prefix}`, { as: caller(own) })).expect(200);
  (await project.call("DELETE", `/keys/${admin.prefix}`, { as: project.owner })).expect(200);
  (await project.call("DELETE", paths[0] ?? "", { as: administrator })).expect(200);
});

test("A key that expires makes nothing that outlives it.", async ({ server }) => {
  const project = await Project.make(server);
  await project.makeProtectedApp("notes");
  const as = caller(await project.makeKey({ expires_in: 600 }));
  const links = `/v1/${project.id}/photos/links`;
  const send = async (path: string, body: object, sender = as) =>
    await administer(server, "POST", path, { as: sender, body });
  const endless: [string, object][] = [
    [links, { name: "a" }],
    [links, { name: "a", expires_in: null }],
    [links, { prefix: "", expires_in: 601 }],
    [`${project.path}/keys`, {}],
    [`${project.path}/s3-keys`, { expires_in: 601 }],
    [`${project.path}/apps/notes/keys`, { name: "ci" }],
  ];
  for (const [path, body] of endless) {
    const answer = (await send(path, body)).expect(403);
    assertErrorAnswer(answer);
    assertStringIncludes(answer.text, "expires later than itself");
    // A key of an application takes no "expires_in".
    const advice = path.includes("/apps/")
      ? /: send a key that does not expire"/
      : /of at most (5\d\d|600) seconds/;
    assertMatch(answer.text, advice);
  }
  assertEquals((await administer(server, "GET", links, { as })).json, { links: [] });
  const { keys } = (await project.call("GET", "/apps/notes/keys")).json as { keys: unknown[] };
  assertEquals([(await project.keys()).length, (await project.s3Keys()).length, keys], [2, 0, []]);
  (await send(links, { name: "a", expires_in: 500 })).expect(201);
  (await send(`${project.path}/s3-keys`, { expires_in: 500 })).expect(201);
  for (const [path, body] of endless) (await send(path, body, project.owner)).expect(201);
});

test("A limited key changes a link only into one that it could create.", async ({ server }) => {
  const project = await Project.make(server);
  const links = `/v1/${project.id}/photos/links`;
  const send = async (method: string, path: string, body: object, as: Caller) =>
    await administer(server, method, path, { as, body });
  const make = async (body: object) =>
    ((await send("POST", links, body, project.owner)).expect(201).json as { id: string }).id;
  const [file, folder, endless] = [
    await make({ name: "a/1", expires_in: 300 }),
    await make({ prefix: "a/", expires_in: 300 }),
    await make({ name: "a/1" }),
  ];
  const as = caller(
    await project.makeKey({ expires_in: 600, name_prefix: "a/", permissions: ["read"] }),
  );
  const change = async (id: string, body: object, sender = as) =>
    await send("PATCH", `${links}/${id}`, body, sender);
  (await change(file, { download: true })).expect(200);
  (await change(file, { expires_in: 500 })).expect(200);
  const refusals: [string, object, string][] = [
    [file, { expires_in: 601 }, "expires later than itself"],
    [file, { expires_in: null }, "expires later than itself"],
    [endless, { password: null }, "expires later than itself"],
    [folder, { password: "x" }, "list"],
  ];
  for (const [id, body, text] of refusals) {
    const answer = (await change(id, body)).expect(403);
    assertErrorAnswer(answer);
    assertStringIncludes(answer.text, text);
  }
  (await change(endless, { expires_in: 500 })).expect(200);
  const others = [{ name_prefix: "b/" }, { drives: ["other"] }, { permissions: ["list", "write"] }];
  for (const limits of others) {
    const key = caller(await project.makeKey(limits));
    assertErrorAnswer((await change(file, { password: null }, key)).expect(403));
  }
});

test("Deleting a drive needs the permission delete as well.", async ({ server }) => {
  const project = await Project.make(server);
  await project.drive("photos").put("a", "x");
  for (const [permissions, missing] of [[["admin"], "delete"], [["delete"], "admin"]] as const) {
    const as = caller(await project.makeKey({ permissions }));
    assertStringIncludes(
      await refused(project, ["DELETE", "/drives/photos"], { as }),
      `the permission "${missing}"`,
    );
  }
  const as = caller(await project.makeKey({ permissions: ["admin", "delete"] }));
  (await project.call("DELETE", "/drives/photos", { as })).expect(202);
});

test("Turning the trash off needs the permission delete as well.", async ({ server }) => {
  const project = await Project.make(server);
  const as = caller(await project.makeKey({ permissions: ["admin"] }));
  (await project.call("PATCH", "", { as, body: { trash_days: 9 } })).expect(200);
  assertStringIncludes(
    await refused(project, ["PATCH", ""], { as, body: { trash_days: 0 } }),
    'the permission "delete"',
  );
  const both = caller(await project.makeKey({ permissions: ["admin", "delete"] }));
  (await project.call("PATCH", "", { as: both, body: { trash_days: 0 } })).expect(200);
  const limited = caller(await project.makeKey({ drives: ["photos"] }));
  await refused(project, ["PATCH", ""], { as: limited, body: { trash_days: 9 } });
});

test("A key with nothing but admin administers, and reads no file.", async ({ server }) => {
  const project = await Project.make(server);
  await project.drive("photos").put("a", "x");
  const key = await project.makeKey({ permissions: ["admin"] });
  const as = caller(key);
  for (const path of ["", "/keys", "/apps"]) {
    (await project.call("GET", path, { as })).expect(200);
  }
  const drive = project.with(key.project_key).drive("photos");
  for (const path of ["/files", "/files/download?name=a", "/uploads"]) {
    assertErrorAnswer((await drive.send("GET", path)).expect(403));
  }
  const { prefix } = await project.makeKey({ permissions: ["admin"] });
  (await project.call("DELETE", `/keys/${prefix}`, { as })).expect(200);
});
