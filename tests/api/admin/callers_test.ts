import { assert, assertEquals } from "@std/assert";
import {
  ADMIN_TOKEN,
  administer,
  ADMINISTERED,
  administrator,
  assertPrivate,
  type Caller,
  fromNewAddress,
  Project,
  PROJECTS,
  withKey,
} from "../../support/admin.ts";
import { rawRequest, sendRaw } from "../../support/raw.ts";
import type { TestServer } from "../../support/server.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Who may administer what", ADMINISTERED);

interface Call {
  method: string;
  /** Below a project, unless it begins with a slash of its own. */
  path: string;
  body?: unknown;
  /** What the administrator gets, and the owner unless it is said otherwise. */
  status: number;
  owner?: number;
}

/** Every call of the administration, on a project that has all that they are about. */
const CALLS: Call[] = [
  { method: "GET", path: PROJECTS, status: 200, owner: 403 },
  { method: "POST", path: PROJECTS, body: {}, status: 201, owner: 403 },
  { method: "GET", path: "", status: 200 },
  { method: "HEAD", path: "", status: 200 },
  { method: "PATCH", path: "", body: { max_bytes: 1000 }, status: 200, owner: 403 },
  { method: "PATCH", path: "", body: { max_files: 1000 }, status: 200, owner: 403 },
  { method: "DELETE", path: "", status: 202, owner: 403 },
  { method: "DELETE", path: "/drives/photos", status: 202 },
  { method: "GET", path: "/key", status: 200 },
  { method: "GET", path: "/keys", status: 200 },
  { method: "POST", path: "/keys", body: {}, status: 201 },
  { method: "DELETE", path: "/keys/{prefix}", status: 200 },
  { method: "GET", path: "/apps", status: 200 },
  { method: "POST", path: "/apps", body: { name: "another" }, status: 201 },
  {
    method: "POST",
    path: "/apps",
    body: { name: "new", upstream: "http://127.0.0.1:3000" },
    status: 201,
    owner: 403,
  },
  { method: "GET", path: "/apps/notes", status: 200 },
  { method: "PATCH", path: "/apps/notes", body: { host: null }, status: 200 },
  { method: "PATCH", path: "/apps/notes", body: { upstream: null }, status: 200, owner: 403 },
  { method: "DELETE", path: "/apps/notes", status: 200 },
  { method: "GET", path: "/apps/notes/access", status: 200 },
  { method: "PUT", path: "/apps/notes/access", body: { enabled: false }, status: 200 },
  { method: "GET", path: "/apps/notes/keys", status: 200 },
  { method: "POST", path: "/apps/notes/keys", body: { name: "new" }, status: 201 },
  { method: "DELETE", path: "/apps/notes/keys/ci", status: 200 },
  { method: "GET", path: "/events", status: 200 },
  { method: "HEAD", path: "/events", status: 200 },
  { method: "GET", path: "/admin/v1/events", status: 200, owner: 403 },
  { method: "GET", path: "/usage", status: 200 },
  { method: "HEAD", path: "/usage", status: 200 },
  { method: "GET", path: "/admin/v1/usage", status: 200, owner: 403 },
  { method: "GET", path: "/admin/v1/status", status: 200, owner: 403 },
];

for (const { method, path, body, status, owner = status } of CALLS) {
  const sent = body === undefined ? "" : ` ${JSON.stringify(body)}`;

  test(`${method} ${path || "of a project"}${sent} is for those who may, and 401 or 403 for others.`, async ({ server }) => {
    const { project, apiKey, targetOf } = await prepare(server);
    const target = targetOf(path);
    const other = await Project.make(server);
    const callers: [string, Caller, number][] = [
      ["unknown", {}, 401],
      ["an empty key", withKey(""), 401],
      ["a wrong key", fromNewAddress(withKey(`${project.id}_wrong`)), 401],
      ["a key of an application", fromNewAddress(withKey(apiKey)), 401],
      ["the token as a key", fromNewAddress(withKey(ADMIN_TOKEN)), 401],
      ["a wrong token", fromNewAddress({ Authorization: "Bearer wrong" }), 401],
      ["the key as a token", fromNewAddress({ Authorization: `Bearer ${project.key}` }), 401],
      [
        "a wrong token with the right key",
        fromNewAddress({ ...project.owner, Authorization: "Bearer x" }),
        401,
      ],
      ["the token in another scheme", { Authorization: `Basic ${ADMIN_TOKEN}` }, 401],
      ["another project's key", other.owner, 403],
    ];
    const before = await stateOf(project);
    for (const [who, as, expected] of callers) {
      const answer = await administer(server, method, target, { as, body });
      assertEquals([who, answer.status], [who, expected]);
      assertPrivate(answer);
      assertEquals(answer.headers.has("WWW-Authenticate"), expected === 401, who);
      if (method !== "HEAD") assertErrorAnswer(answer);
    }
    const asOwner = await administer(server, method, target, { as: project.owner, body });
    assertEquals(["the owner", asOwner.status], ["the owner", owner]);
    if (owner >= 400) assertErrorAnswer(asOwner);
    if (owner >= 400 || method === "GET") assertEquals(await stateOf(project), before);
    // What the owner did the administrator does on another one.
    const again = (await prepare(server)).targetOf(path);
    assertPrivate((await administer(server, method, again, { body })).expect(status));
  });
}

interface Scene {
  project: Project;
  apiKey: string;
  /** The path of a call, of the administration as it is and of the project below its own. */
  targetOf(path: string): string;
}

/** A project with a drive, an application and a key of each kind. */
async function prepare(server: TestServer): Promise<Scene> {
  const project = await Project.make(server);
  await project.drive("photos").put("cat.jpg", "cat");
  const app = await project.makeProtectedApp("notes");
  const { api_key: apiKey } = await project.makeAppKey(app, { name: "ci" });
  const spare = (await project.call("POST", "/keys")).expect(201).json as { prefix: string };
  const targetOf = (path: string) =>
    path.startsWith("/admin") ? path : project.path + path.replace("{prefix}", spare.prefix);
  return { project, apiKey, targetOf };
}

/** All that a refused call must leave as it was. */
async function stateOf(project: Project): Promise<unknown> {
  const paths = ["", "/events", "/keys", "/apps", "/apps/notes/access", "/apps/notes/keys"];
  return await Promise.all(paths.map(async (path) => {
    // The disk changes with everything else that runs on it.
    const { disk: _, ...rest } = (await project.call("GET", path)).json as { disk?: unknown };
    // The owner's calls are uses of the key.
    return JSON.stringify(rest).replaceAll(/"last_used":[^,}]+/g, "");
  }));
}

test("The administrator's token takes precedence over a key.", async ({ server }) => {
  const project = await Project.make(server);
  const wrongKey = { ...administrator, ...withKey("unknown_wrong") };
  (await project.call("GET", "", { as: wrongKey })).expect(200);
  (await administer(server, "GET", PROJECTS, { as: { ...administrator, ...project.owner } }))
    .expect(200);
});

test("The scheme's name has no case, and blanks behind it don't matter.", async ({ server }) => {
  for (const scheme of ["bearer", "BEARER", "Bearer  "]) {
    const as = { Authorization: `${scheme} ${ADMIN_TOKEN}` };
    (await administer(server, "GET", PROJECTS, { as })).expect(200);
  }
});

test("A missing object is 404 for the administrator and 403 for other owners.", async ({ server }) => {
  const project = await Project.make(server);
  for (const id of ["nothing", "a_b", "a%2Fb", "x".repeat(65), "x".repeat(3000), "%00", ".."]) {
    for (
      const [method, path] of [["GET", ""], ["DELETE", ""], ["GET", "/keys"], ["GET", "/apps"]]
    ) {
      const target = `${PROJECTS}/${id}${path}`;
      const raw = (headers: Caller) =>
        sendRaw(server.port, rawRequest(method ?? "", target, { "X-Api-Key": null, ...headers }));
      assertErrorAnswer((await raw(administrator)).expect(404));
      assertErrorAnswer((await raw(project.owner)).expect(403));
    }
  }
  const malformed = `${PROJECTS}/%zz`;
  (await administer(server, "GET", malformed)).expect(400);
  (await administer(server, "GET", malformed, { as: project.owner })).expect(403);
});

// "route → method → key → parameters → body"
test("The order of checks: route, method, key, parameters, body.", async ({ server }) => {
  const project = await Project.make(server);
  const anonymous = { as: {} };
  (await administer(server, "BREW", `${PROJECTS}/`, anonymous)).expect(404);
  (await administer(server, "BREW", PROJECTS, anonymous)).expect(405);
  (await project.call("GET", "/keys?limit=%zz", anonymous)).expect(401);
  (await project.call("GET", "/keys?limit=%zz")).expect(400);
  (await project.call("GET", "/keys?limit=none&limit=more")).expect(200);
  (await project.call("DELETE", "/drives/%ff")).expect(400);
  (await project.call("DELETE", "/drives/a%2Fb")).expect(400);
  // The body never comes: an answer means that it was not waited for.
  for (const [path, status] of [["/keys", 401], ["/keys?x=%zz", 401]] as const) {
    const headers = { "X-Api-Key": null, "Content-Length": "100" };
    const request = rawRequest("POST", project.path + path, headers);
    assertErrorAnswer((await sendRaw(server.port, request)).expect(status));
  }
  for (const path of ["/apps/-/keys", "/apps?x=%zz"]) {
    const headers = { "X-Api-Key": project.key, "Content-Length": "100" };
    const answer = await sendRaw(server.port, rawRequest("POST", project.path + path, headers));
    assert([400, 404].includes(answer.status), `${answer.status}`);
  }
});

const ROUTES: [string, string[]][] = [
  [PROJECTS, ["GET", "HEAD", "POST"]],
  [`${PROJECTS}/p`, ["DELETE", "GET", "HEAD", "PATCH"]],
  [`${PROJECTS}/p/drives/d`, ["DELETE"]],
  [`${PROJECTS}/p/keys`, ["GET", "HEAD", "POST"]],
  [`${PROJECTS}/p/keys/k`, ["DELETE"]],
  [`${PROJECTS}/p/apps`, ["GET", "HEAD", "POST"]],
  [`${PROJECTS}/p/apps/a`, ["DELETE", "GET", "HEAD", "PATCH"]],
  [`${PROJECTS}/p/apps/a/access`, ["GET", "HEAD", "PUT"]],
  [`${PROJECTS}/p/apps/a/keys`, ["GET", "HEAD", "POST"]],
  [`${PROJECTS}/p/apps/a/keys/k`, ["DELETE"]],
];

for (const [path, methods] of ROUTES) {
  test(`${path} allows ${methods.join(", ")} and nothing else, and no page of another origin.`, async ({ server }) => {
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"]) {
      if (methods.includes(method)) continue;
      const request = rawRequest(method, path, { "X-Api-Key": null });
      const answer = (await sendRaw(server.port, request)).expect(405);
      const allowed = answer.header("Allow").split(", ");
      assertEquals(allowed.filter((one) => one !== "OPTIONS").sort(), methods);
    }
    const preflight = await administer(server, "OPTIONS", path, {
      as: {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
      },
    });
    assertPrivate(preflight.expect(204));
  });
}

const UNKNOWN = ["/admin", "/admin/", "/admin/v1", "/admin/v2/projects", `${PROJECTS}/`];

for (const path of [...UNKNOWN, `${PROJECTS}//keys`, `${PROJECTS}/p/files`, "/admin/v1/Projects"]) {
  test(`${path} is 404, for everybody.`, async ({ server }) => {
    for (const as of [{}, administrator, fromNewAddress(withKey("a_b"))]) {
      for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
        const answer = (await administer(server, method, path, { as })).expect(404);
        assertErrorAnswer(answer);
        assertPrivate(answer);
      }
    }
  });
}
