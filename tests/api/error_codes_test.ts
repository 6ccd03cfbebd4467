import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import {
  administer,
  ADMINISTERED,
  administrator,
  type Caller,
  fromNewAddress,
  Project,
  PROJECTS,
  withKey,
} from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { type Drive, send, Upload } from "../support/drive.ts";
import { ERROR_CODES } from "../support/openapi/error_codes.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("Every error has a code for programs", ADMINISTERED);

/** Status and code of an error. */
function errorOf(answer: Answer): [number, string] {
  assertErrorAnswer(answer);
  return [answer.status, answer.code];
}

async function project({ server }: Drive): Promise<Project> {
  return await Project.make(server);
}

/** The outcome of a call of the file API with JSON. */
async function post(drive: Drive, path: string, body: unknown): Promise<Answer> {
  return await drive.send("POST", path, { body: JSON.stringify(body) });
}

test("The documentation and /openapi.json have the same codes, with the same statuses.", async ({ server }) => {
  const answer = await send(server, "GET", "/openapi.json");
  const { components: { schemas } } = answer.expect(200).json as {
    components: { schemas: Record<string, { enum?: string[]; description?: string }> };
  };
  const { enum: codes, description = "" } = schemas["ErrorCode"] ?? {};
  const described = description.matchAll(/^- `(\w+)` \((\d{3})\): \S.*\.$/gm);
  assertEquals(codes, [...ERROR_CODES.keys()]);
  assertEquals(
    Array.from(described, ([, code, status]) => [code, Number(status)]),
    [...ERROR_CODES],
  );
});

test("Refused credentials have different codes.", async (drive) => {
  const own = await project(drive);
  const other = await project(drive);
  const listing = await own.makeKey({ permissions: ["list"] });
  const limited = await own.makeKey({ drives: ["photos"], name_prefix: "a/" });
  const expiring = await own.makeKey({ expires_in: 1 });
  const keyMaker = await own.makeKey({ permissions: ["admin", "list"] });
  await delay(1100);
  const files = async (method: string, path: string, as: Caller) =>
    errorOf(
      await administer(own.server, method, `/v1/${own.id}${path}`, { as: fromNewAddress(as) }),
    );
  const path = "/photos/files";
  assertEquals(await files("GET", path, {}), [401, "missing_key"]);
  assertEquals(await files("GET", path, withKey(`${own.id}_no`)), [401, "unknown_key"]);
  assertEquals(await files("GET", path, withKey(expiring.project_key)), [401, "unknown_key"]);
  assertEquals(await files("GET", path, other.owner), [403, "wrong_project"]);
  const cases: [string, string, string, string][] = [
    ["POST", "/photos/files?name=a", listing.project_key, "missing_permission"],
    ["GET", "/documents/files", limited.project_key, "key_limited"],
    ["POST", "/photos/files?name=b", limited.project_key, "key_limited"],
  ];
  for (const [method, path, key, code] of cases) {
    assertEquals(await files(method, path, withKey(key)), [403, code]);
  }
  const as = withKey(keyMaker.project_key);
  const body = { permissions: ["write"] };
  assertEquals(errorOf(await own.call("POST", "/keys", { as, body })), [403, "rights_exceeded"]);
  const projects = await administer(own.server, "GET", PROJECTS, { as: own.owner });
  assertEquals(errorOf(projects), [403, "administrator_only"]);
  const upstream = { name: "app", upstream: "http://127.0.0.1:3000" };
  const app = await own.call("POST", "/apps", { as: own.owner, body: upstream });
  assertEquals(errorOf(app), [403, "administrator_only"]);
  const host = { name: "app", host: "app.example.com" };
  assertEquals(
    errorOf(await own.call("POST", "/apps", { as: own.owner, body: host })),
    [403, "host_not_allowed"],
  );
});

test("Each missing thing has a code of its own.", async (drive) => {
  const own = await project(drive);
  await own.makeProtectedApp("app");
  const administration: [string, string, string][] = [
    ["DELETE", "/drives/none", "drive_not_found"],
    ["DELETE", "/keys/01234567", "key_not_found"],
    ["DELETE", "/s3-keys/KV0123456789ABCDEF01", "s3_key_not_found"],
    ["GET", "/apps/none", "app_not_found"],
    ["DELETE", "/apps/app/keys/none", "app_key_not_found"],
  ];
  for (const [method, path, code] of administration) {
    assertEquals(errorOf(await own.call(method, path)), [404, code]);
  }
  const files: [string, string, string][] = [
    ["GET", "/d/files/download?name=a", "file_not_found"],
    ["PATCH", "/d/uploads/none?name=a", "upload_not_found"],
    ["DELETE", "/d/links/none", "link_not_found"],
    ["GET", "/d/nothing", "route_not_found"],
  ];
  for (const [method, path, code] of files) {
    assertEquals(errorOf(await own.files(method, path)), [404, code]);
  }
  assertEquals(errorOf(await send(own.server, "GET", "/s/none")), [404, "link_not_found"]);
  for (const path of [`${PROJECTS}/none`, "/v1/none"]) {
    const answer = await administer(own.server, "GET", path, { as: administrator });
    assertEquals(errorOf(answer), [404, "project_not_found"]);
  }
});

test("Each conflict has a code of its own.", async (drive) => {
  const own = await project(drive);
  const app = await own.makeProtectedApp("app");
  await own.makeAppKey(app, { name: "ci" });
  await own.makeApp({ name: "hosted", host: `${own.id}.example.com` });
  await own.makeApp({ name: "open" });
  const again = (path: string, body: unknown) => own.call("POST", path, { body });
  const cases: [string, unknown, string][] = [
    ["/apps", { name: "app" }, "app_exists"],
    ["/apps", { name: "other", host: `${own.id}.example.com` }, "host_exists"],
    [`${app}/keys`, { name: "ci" }, "app_key_exists"],
    ["/apps/open/keys", { name: "ci" }, "access_off"],
  ];
  for (const [path, body, code] of cases) {
    assertEquals(errorOf(await again(path, body)), [409, code]);
  }
  const same = await administer(own.server, "POST", PROJECTS, { body: { project_id: own.id } });
  assertEquals(errorOf(same), [409, "project_exists"]);
  const upload = await Upload.start(drive, "film");
  assertEquals(errorOf(await drive.send("PATCH", `/uploads/${upload.id}?name=other`)), [
    400,
    "upload_name_mismatch",
  ]);
  (await upload.send(2, new Uint8Array(10))).expect(200);
  assertEquals(errorOf(await upload.complete()), [400, "invalid_parts"]);
  (await upload.send(1, new Uint8Array(5_000_000))).expect(200);
  (await upload.complete()).expect(200);
  assertEquals(errorOf(await upload.abort()), [409, "upload_completed"]);
  await drive.put("a", "x");
  await drive.put("b", "x");
  assertEquals(errorOf(await post(drive, "/files/move", { from: "a", to: "b" })), [
    409,
    "file_exists",
  ]);
  assertEquals(errorOf(await post(drive, "/files/copy", { from: "a", to: "a" })), [
    400,
    "same_file",
  ]);
});

test("A quota and a size have codes of their own.", async ({ server }) => {
  const own = await Project.make(server, { max_bytes: 3 });
  const drive = own.drive("d");
  const put = (headers: Record<string, string>) =>
    drive.send("POST", "/files?name=a", { body: "1234", headers });
  assertEquals(errorOf(await put({})), [507, "quota_exceeded"]);
  const form = { "Content-Type": "multipart/form-data; boundary=x" };
  assertEquals(errorOf(await put(form)), [415, "form_body"]);
  const digest = `sha-256=:${btoa("x".repeat(32))}:`;
  const unlike = { body: "1", headers: { "Content-Digest": digest } };
  const answer = await drive.send("POST", "/files?name=a", unlike);
  assertEquals(errorOf(answer), [400, "digest_mismatch"]);
});

/** What became of the items of a call: the fields of each but the sentence. */
function codesIn(answer: Answer): unknown[] {
  const { failed } = answer.expect(200).json as { failed: { error: string }[] };
  return failed.map(({ error, ...rest }) => {
    assertEquals(typeof error, "string");
    return rest;
  });
}

test("Items that failed have a code each.", async (drive) => {
  const own = await Project.make(drive.server);
  (await own.call("PATCH", "", { body: { trash_days: 3 } })).expect(200);
  const files = own.drive("d");
  await files.put("a", "x");
  await files.put("b", "x");
  const items = [{ from: "a", to: "a" }, { from: "none", to: "c" }, { from: "a", to: "b" }];
  for (const kind of ["copy", "move"]) {
    assertEquals(codesIn(await post(files, `/files/${kind}`, { items })), [
      { name: "a", code: "same_file" },
      { name: "none", code: "file_not_found" },
      { name: "a", code: "file_exists" },
    ]);
  }
  await files.delete(["a"]);
  await files.put("a", "y");
  const trash = (await files.send("GET", "/trash")).expect(200).json as { items: { id: string }[] };
  const ids = [...trash.items.map(({ id }) => id), "none"];
  assertEquals(codesIn(await post(files, "/trash/restore", { ids })), [
    { id: ids[0], code: "file_exists" },
    { id: "none", code: "trash_item_not_found" },
  ]);
});
