import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  ADMINISTERED,
  assertPrivate,
  type NewAppKey,
  Project,
  withoutDate,
} from "../../support/admin.ts";
import { Gate } from "../../support/gate/gate.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Applications, their access control and their keys", ADMINISTERED);

interface App {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

async function appsOf(project: Project): Promise<App[]> {
  const body = (await project.call("GET", "/apps")).expect(200).json;
  assertEquals(Object.keys(body as object), ["apps", "gate"]);
  return (body as { apps: App[] }).apps;
}

test("A new application is answered whole, its access control off.", async ({ server }) => {
  const project = await Project.make(server);
  assertEquals(await appsOf(project), []);
  const host = `${project.id}.example.com`;
  const bodies = [
    { name: "a" },
    { name: "b", upstream: null, host: null },
    { name: "c", upstream: "http://127.0.0.1:3000", host: host.toUpperCase() },
    { name: "D_.-9", upstream: "https://[::1]:8443/" },
  ];
  for (const body of bodies) {
    const answer = (await project.call("POST", "/apps", { body })).expect(201);
    assertPrivate(answer);
    const app = answer.json as App;
    assertEquals(withoutDate(app), {
      name: body.name,
      project_id: project.id,
      upstream: body.upstream ?? null,
      host: body.host?.toLowerCase() ?? null,
      access: { enabled: false },
    });
    assertEquals((await project.call("GET", `/apps/${body.name}`)).expect(200).json, app);
  }
  assertEquals((await appsOf(project)).map(({ name }) => name), ["D_.-9", "a", "b", "c"]);
});

test("The list of applications contains the address of the gate.", async ({ server }) => {
  const project = await Project.make(server);
  const off = (await project.call("GET", "/apps", { as: project.owner })).expect(200).json;
  assertEquals(off, { apps: [], gate: null });
  await using gate = await Gate.start();
  const on = (await gate.project.call("GET", "/apps")).expect(200).json;
  assertEquals(on, { apps: [], gate: { port: gate.port, scheme: "http" } });
});

const BAD_APPS: [unknown, string][] = [
  ["", "name"],
  [{}, "name"],
  [{ name: null }, "name"],
  [{ name: "" }, "name"],
  [{ name: ".." }, "name"],
  [{ name: "-a" }, "name"],
  [{ name: "a/b" }, "name"],
  [{ name: "a b" }, "name"],
  [{ name: "x".repeat(65) }, "name"],
  [{ name: 1 }, "name"],
  [{ name: "a", upstream: "127.0.0.1:3000" }, "upstream"],
  [{ name: "a", upstream: "ftp://127.0.0.1" }, "upstream"],
  [{ name: "a", upstream: "http://user:word@127.0.0.1" }, "upstream"],
  [{ name: "a", upstream: "http://127.0.0.1/path" }, "upstream"],
  [{ name: "a", upstream: "http://127.0.0.1/?q" }, "upstream"],
  [{ name: "a", upstream: "http://127.0.0.1/#f" }, "upstream"],
  [{ name: "a", upstream: `http://${"x".repeat(2048)}` }, "upstream"],
  [{ name: "a", upstream: 3000 }, "upstream"],
  [{ name: "a", host: "app.example.com:80" }, "host"],
  [{ name: "a", host: "http://app.example.com" }, "host"],
  [{ name: "a", host: "127.0.0.1" }, "host"],
  [{ name: "a", host: "::1" }, "host"],
  [{ name: "a", host: "" }, "host"],
  [{ name: "a", host: "-.example" }, "host"],
  [{ name: "a", host: "a.".repeat(130) + "example" }, "host"],
  [{ name: "a", host: true }, "host"],
  [{ name: "a", access: true }, "access"],
  [{ name: "a", access: null }, "access"],
  [{ name: "a", access: {} }, "enabled"],
  [{ name: "a", access: { enabled: 1 } }, "enabled"],
  [{ name: "a", access: { enabled: true, on: true } }, "access.on"],
  [[], "object"],
];

for (const [body, part] of BAD_APPS) {
  const text = typeof body === "string" ? "nothing" : JSON.stringify(body);

  test(`The application ${text.slice(0, 60)} is 400 and names "${part}".`, async ({ server }) => {
    const project = await Project.make(server);
    const answer = (await project.call("POST", "/apps", { body })).expect(400);
    assertErrorAnswer(answer);
    assert(answer.errors.join().includes(part), answer.text);
    assertEquals(await appsOf(project), []);
  });
}

test("A name is taken once in a project, a host name once in the store.", async ({ server }) => {
  const [one, two] = [await Project.make(server), await Project.make(server)];
  const host = `${one.id}.example.com`;
  await one.makeApp({ name: "a", host });
  await two.makeApp({ name: "a" });
  await two.makeApp({ name: "b" });
  const refused = [
    await one.call("POST", "/apps", { body: { name: "a" } }),
    await two.call("POST", "/apps", { body: { name: "c", host } }),
    await two.call("PATCH", "/apps/b", { body: { host: host.toUpperCase() } }),
  ];
  for (const answer of refused) assertErrorAnswer(answer.expect(409));
  assertEquals((await appsOf(two)).map(({ name, host }) => [name, host]), [["a", null], [
    "b",
    null,
  ]]);
  (await one.call("DELETE", "/apps/a")).expect(200);
  (await two.call("PATCH", "/apps/b", { body: { host } })).expect(200);
});

test("Of ten applications of one name at once, one is made.", async ({ server }) => {
  const project = await Project.make(server);
  const body = { name: "wanted" };
  const calls = Array.from({ length: 10 }, () => project.call("POST", "/apps", { body }));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assertEquals(statuses.sort(), [201, ...Array(9).fill(409)]);
  assertEquals((await appsOf(project)).length, 1);
});

test("PATCH sets the named fields, and null removes one.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeApp({ name: "a", upstream: "http://127.0.0.1:1" });
  const change = async (body: unknown, as = {}) => {
    const { upstream, host } = (await project.call("PATCH", path, { body, ...as })).expect(200)
      .json as App;
    return [upstream, host];
  };
  const host = `${project.id}.example.com`;
  assertEquals(await change({ host }), ["http://127.0.0.1:1", host]);
  assertEquals(await change({ upstream: "http://127.0.0.1:2" }), ["http://127.0.0.1:2", host]);
  assertEquals(await change({}), ["http://127.0.0.1:2", host]);
  assertEquals(await change(""), ["http://127.0.0.1:2", host]);
  assertEquals(await change({ host: null }), ["http://127.0.0.1:2", null]);
  assertEquals(await change({ upstream: null, host }), [null, host]);
  for (const body of [{ name: "b" }, { host: 1 }, { upstream: "x" }, { access: true }, []]) {
    assertErrorAnswer((await project.call("PATCH", path, { body })).expect(400));
  }
  assertEquals(await change({}), [null, host]);
});

// "the upstream is the administrator's to set, as it says where this server connects to"
test("An owner cannot set an upstream: 403, and nothing changes.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeApp({ name: "a", upstream: "http://127.0.0.1:1" });
  const as = project.owner;
  const upstream = "http://127.0.0.1:2";
  const before = await appsOf(project);
  const refused = [
    await project.call("POST", "/apps", { as, body: { name: "b", upstream } }),
    await project.call("PATCH", path, { as, body: { upstream } }),
    await project.call("PATCH", path, { as, body: { upstream: null, host: "a.example.com" } }),
  ];
  for (const answer of refused) assertErrorAnswer(answer.expect(403));
  assertEquals(await appsOf(project), before);
});

test("Access control can be switched on and off, and its state is returned.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeApp({ name: "a" });
  for (const enabled of [true, true, false, true]) {
    const options = { as: project.owner, body: { enabled } };
    assertEquals((await project.call("PUT", `${path}/access`, options)).expect(200).json, {
      enabled,
    });
    assertEquals((await project.call("GET", `${path}/access`)).expect(200).json, { enabled });
    assertEquals((await appsOf(project))[0]?.access, { enabled });
  }
  for (
    const body of ["", {}, { enabled: 1 }, { enabled: "true" }, { enabled: null }, { on: true }]
  ) {
    assertErrorAnswer((await project.call("PUT", `${path}/access`, { body })).expect(400));
  }
  assertEquals((await project.call("GET", `${path}/access`)).json, { enabled: true });
});

// "Access control is enabled for the application before keys can be created."
test("No key can be made while access control is off.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeApp({ name: "a" });
  const make = () => project.call("POST", `${path}/keys`, { body: { name: "ci" } });
  const refused = (await make()).expect(409);
  assertErrorAnswer(refused);
  assertMatch(refused.errors.join(), /enable/);
  (await project.call("PUT", `${path}/access`, { body: { enabled: true } })).expect(200);
  (await make()).expect(201);
  (await project.call("PUT", `${path}/access`, { body: { enabled: false } })).expect(200);
  (await project.call("POST", `${path}/keys`, { body: { name: "other" } })).expect(409);
  const { keys } = (await project.call("GET", `${path}/keys`)).json as { keys: unknown[] };
  assertEquals(keys.length, 1);
});

test("A key is answered whole once, and listed without its secret.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeProtectedApp("a");
  const listed: Omit<NewAppKey, "api_key">[] = [];
  const bodies: { name: string; description?: string }[] = [
    { name: "a key / with % signs" },
    { name: "ci", description: "Lines\nof it 😀" },
  ];
  for (const body of bodies) {
    const answer = await project.call("POST", `${path}/keys`, { as: project.owner, body });
    assertPrivate(answer.expect(201));
    const made = answer.json as NewAppKey;
    const { api_key, ...rest } = made;
    assertMatch(api_key, /^[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}$/);
    assertEquals(withoutDate(made), {
      name: body.name,
      description: body.description ?? null,
      prefix: api_key.split(".")[0],
      api_key,
    });
    listed.push(rest);
  }
  assertEquals((await project.call("GET", `${path}/keys`)).expect(200).json, { keys: listed });
});

test("A name of a key is taken once, until it is revoked.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeProtectedApp("a");
  const name = "a key / of ö";
  await project.makeAppKey(path, { name });
  await project.makeAppKey(await project.makeProtectedApp("b"), { name });
  assertErrorAnswer((await project.call("POST", `${path}/keys`, { body: { name } })).expect(409));
  const target = `${path}/keys/${encodeURIComponent(name)}`;
  const revoked = await project.call("DELETE", target, { as: project.owner });
  assertEquals(revoked.expect(200).json, { name });
  assertErrorAnswer((await project.call("DELETE", target)).expect(404));
  await project.makeAppKey(path, { name });
});

test("Of ten keys of one name at once, one is made.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeProtectedApp("a");
  const body = { name: "wanted" };
  const calls = Array.from({ length: 10 }, () => project.call("POST", `${path}/keys`, { body }));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assertEquals(statuses.sort(), [201, ...Array(9).fill(409)]);
});

const BAD_KEYS: [unknown, string][] = [
  ["", "name"],
  [{ description: "without a name" }, "name"],
  [{ name: " " }, "name"],
  [{ name: "x".repeat(129) }, "name"],
  [{ name: "a\tb" }, "name"],
  [{ name: {} }, "name"],
  [{ name: "a", description: "x".repeat(1025) }, "description"],
  [{ name: "a", description: "\u0007" }, "description"],
  [{ name: "a", description: 1 }, "description"],
  [{ name: "a", prefix: "mine" }, "prefix"],
];

for (const [body, part] of BAD_KEYS) {
  const text = typeof body === "string" ? "nothing" : JSON.stringify(body);

  test(`The key ${text.slice(0, 50)} is 400 and names "${part}".`, async ({ server }) => {
    const project = await Project.make(server);
    const path = await project.makeProtectedApp("a");
    const answer = (await project.call("POST", `${path}/keys`, { body })).expect(400);
    assertErrorAnswer(answer);
    assert(answer.errors.join().includes(part), answer.text);
    assertEquals((await project.call("GET", `${path}/keys`)).json, { keys: [] });
  });
}

test("A deleted application is gone with its keys, and its name is free.", async ({ server }) => {
  const project = await Project.make(server);
  const path = await project.makeProtectedApp("a");
  await project.makeAppKey(path, { name: "ci" });
  const answer = await project.call("DELETE", path, { as: project.owner });
  assertEquals(answer.expect(200).json, { name: "a" });
  assertEquals(await appsOf(project), []);
  await project.makeProtectedApp("a");
  assertEquals((await project.call("GET", `${path}/keys`)).expect(200).json, { keys: [] });
});

test("Every call to an unknown application is 404.", async ({ server }) => {
  const project = await Project.make(server);
  await (await Project.make(server)).makeApp({ name: "a" });
  const calls: [string, string, unknown][] = [
    ["GET", "", undefined],
    ["PATCH", "", {}],
    ["DELETE", "", undefined],
    ["GET", "/access", undefined],
    ["PUT", "/access", { enabled: true }],
    ["GET", "/keys", undefined],
    ["POST", "/keys", { name: "ci" }],
    ["DELETE", "/keys/ci", undefined],
  ];
  for (const name of ["a", "x".repeat(2000), "%2e%2ea", "a%2Fb", "%00", "__proto__", "-"]) {
    for (const [method, path, body] of calls) {
      for (const as of [project.owner, undefined]) {
        const options = { body, ...(as === undefined ? {} : { as }) };
        const answer = await project.call(method, `/apps/${name}${path}`, options);
        assertErrorAnswer(answer.expect(404));
        assertStringIncludes(answer.text, "There is no application");
      }
    }
  }
  const path = await project.makeProtectedApp("a");
  for (const name of ["ci", "x".repeat(3000), "%00", "%20"]) {
    assertErrorAnswer((await project.call("DELETE", `${path}/keys/${name}`)).expect(404));
  }
});
