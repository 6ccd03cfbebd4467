import { assert, assertEquals, assertGreater } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { ADMIN_TOKEN, ADMINISTERED, Project, withKey } from "../support/admin.ts";
import { patternBytes } from "../support/bytes.ts";
import { Drive, Upload, uploadParts } from "../support/drive.ts";
import { type Operation, readOperations, targetOf } from "../support/openapi/operations.ts";
import { GatedBody } from "../support/paced_body.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { newAddress, PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { imageBytes } from "../support/sharing/thumbnails.ts";
import { keepChanges } from "../support/store/changes.ts";

/**
 * What every operation answers alike, asked of each that is described. That an answer is as it is described is judged on
 * the way: see `support/openapi/watch.ts`.
 */
type Asked = Record<string, string | null>;

const ANONYMOUS: Asked = { "X-Api-Key": null };
const ADMINISTRATOR: Asked = { ...ANONYMOUS, Authorization: `Bearer ${ADMIN_TOKEN}` };

/** More than any body in JSON may have, and more than a file. */
const TOO_LARGE = String(20 * 2 ** 20);

const FORM = "application/x-www-form-urlencoded";

/** Asks operations one after another for one status. */
async function ask(
  server: TestServer,
  operations: readonly Operation[],
  status: number,
  { headers, given = {} }: { headers: Asked; given?: Record<string, string> },
): Promise<void> {
  assertGreater(operations.length, 0);
  for (const operation of operations) {
    const target = targetOf(operation, given);
    // The form with the password of a link is the only body that is not read whatever its type.
    const type = target.startsWith("/s/") ? { "Content-Type": FORM } : {};
    const request = rawRequest(operation.method, target, { ...type, ...headers });
    const answer = await sendRaw(server.port, request);
    const said = `${operation.method} ${target}: ${answer.text}`;
    assertEquals(answer.status, status, said);
  }
}

function having(operations: readonly Operation[], status: number): Operation[] {
  return operations.filter(({ statuses }) => statuses.includes(status));
}

function openTo(operations: readonly Operation[], who: string): Operation[] {
  return operations.filter(({ openedBy }) => openedBy.includes(who));
}

function test(
  sentence: string,
  run: (server: TestServer, all: Operation[]) => Promise<void>,
): void {
  Deno.test(sentence, async () => {
    await using server = await TestServer.start({
      ...ADMINISTERED,
      args: ["--idle-timeout", "1s"],
    });
    await run(server, await readOperations(server.origin));
  });
}

/** Stores a file and makes a link on it. @returns the link's token. */
async function makeLink(drive: Drive, password?: string): Promise<string> {
  await drive.put("linked", "x");
  const body = JSON.stringify({ name: "linked", password });
  const { url } = (await drive.send("POST", "/links", { body })).expect(201).json as {
    url: string;
  };
  return url.slice(url.lastIndexOf("/") + 1);
}

/** Stores a file and makes a ticket for it. @returns the ticket. */
async function makeTicket(drive: Drive): Promise<string> {
  await drive.put("file", "x");
  const answer = await fetch(`${drive.server.origin}/dashboard/downloads`, {
    method: "POST",
    headers: { "X-Api-Key": PROJECT_KEY },
    body: JSON.stringify({ project_id: PROJECT_ID, drive_name: "drive", names: ["file"] }),
  });
  const { url } = await answer.json() as { url: string };
  return url.slice(url.lastIndexOf("/") + 1);
}

test("Every operation answers a malformed Host header with 400.", async (server, all) => {
  await ask(server, all, 400, { headers: { Host: "a/b" } });
});

test("Every operation that wants credentials answers 401 without.", async (server, all) => {
  await ask(server, openTo(all, "AdministratorToken"), 401, { headers: ANONYMOUS });
});

test("Every operation of a project answers 403 to a key of another.", async (server, all) => {
  const other = await Project.make(server, { project_id: "other" });
  // The others are about the key itself, or name the project in their body.
  const below = openTo(all, "ProjectKey").filter(({ path }) => path.includes("{project_id}"));
  await ask(server, below, 403, { headers: { "X-Api-Key": other.key } });
});

test("Every operation of the administrator alone answers 403 to an owner.", async (server, all) => {
  const administrators = openTo(all, "AdministratorToken").filter(({ openedBy }) =>
    openedBy.every((one) => one === "AdministratorToken" || one === "SessionHeader")
  );
  await ask(server, administrators, 403, { headers: { "X-Api-Key": PROJECT_KEY } });
});

test("Every operation of a project that there is not answers 404.", async (server, all) => {
  // Without a key of the project, the answer does not tell if it exists.
  const below = having(all, 404).filter(({ path }) =>
    path.includes("{project_id}") && !path.startsWith("/auth/")
  );
  await ask(server, below, 404, { headers: ADMINISTRATOR, given: { project_id: "absent" } });
  const pages = having(all, 404).filter(({ path }) => path.includes("{file}"));
  await ask(server, pages, 404, { headers: ANONYMOUS, given: { file: "absent.js" } });
});

test("Every operation answers 429 after twenty wrong keys.", async (server, all) => {
  const from = { "X-Forwarded-For": newAddress() };
  for (let i = 0; i < 20; i++) {
    const headers = { ...from, ...withKey(`${PROJECT_ID}_wrong${i}`) };
    (await sendRaw(server.port, rawRequest("GET", `/v1/${PROJECT_ID}`, headers))).expect(401);
  }
  const wrong = { ...from, "X-Api-Key": null, Authorization: "Bearer wrong" };
  // A wrong password of a link, and a wrong secret of a sign-in, have tests of their own.
  const keyed = having(all, 429)
    .filter(({ path }) => !path.startsWith("/s/") && path !== "/dashboard/session");
  await ask(server, keyed, 429, { headers: wrong });
});

test(
  "Every operation with a body answers 413 to one that is announced too large.",
  async (server, all) => {
    const headers = { ...ADMINISTRATOR, "Content-Length": TOO_LARGE };
    const given = { token: await makeLink(new Drive(server, "drive"), "secret") };
    await ask(server, having(all, 413), 413, { headers, given });
  },
);

test(
  "Every operation with a body answers 408 if the body does not arrive.",
  async (server, all) => {
    const drive = new Drive(server, "drive");
    const upload = await Upload.start(drive, "file");
    const headers = { ...ADMINISTRATOR, "Content-Length": "10" };
    const file = await server.dashboardFile("main.js");
    const given = { upload_id: upload.id, file, token: await makeLink(drive, "secret") };
    const waiting = having(all, 408);
    await Promise.all(waiting.map((one) => ask(server, [one], 408, { headers, given })));
  },
);

test(
  "Every HEAD of what is there answers 200, or 204, and every OPTIONS 204.",
  async (server, all) => {
    const project = new Project(server, PROJECT_ID, PROJECT_KEY);
    await project.makeProtectedApp("app");
    const { api_key } = await project.makeAppKey("/apps/app", { name: "key" });
    const drive = new Drive(server, "drive");
    await drive.put("file", "x");
    const upload = await Upload.start(drive, "file");
    const heads = all.filter(({ method }) => method === "HEAD");
    const file = await server.dashboardFile("main.js");
    const [token, ticket] = [await makeLink(drive), await makeTicket(drive)];
    const thumbnail = { body: imageBytes(100) };
    (await drive.send("PUT", "/files/thumbnail?name=file", thumbnail)).expect(200);
    await keepChanges(project, 1);
    const given = { upload_id: upload.id, file, token, ticket };
    const auth = having(heads, 204);
    assertEquals(auth.map(({ path }) => path), ["/auth/{project_id}/{app}"]);
    await ask(server, having(heads, 200), 200, { headers: ADMINISTRATOR, given });
    await ask(server, auth, 204, { headers: { "X-Api-Key": api_key } });
    await ask(server, auth, 401, { headers: ANONYMOUS });
    await ask(server, all.filter(({ method }) => method === "OPTIONS"), 204, {
      headers: ANONYMOUS,
    });
  },
);

test("Every page of the server answers 304 to a client that has it.", async (server, all) => {
  const drive = new Drive(server, "drive");
  const [token, ticket] = [await makeLink(drive), await makeTicket(drive)];
  const given = { file: await server.dashboardFile("main.js"), token, ticket };
  for (const operation of having(openTo(all, "nothing"), 304)) {
    const target = targetOf(operation, given);
    const first = await sendRaw(server.port, rawRequest(operation.method, target, ANONYMOUS));
    const known = { ...ANONYMOUS, "If-None-Match": first.expect(200).header("ETag") };
    await ask(server, [operation], 304, { headers: known, given });
  }
});

test("HEAD of an upload that is complete answers 409.", async (server, all) => {
  const upload = await uploadParts(new Drive(server, "drive"), "file", [patternBytes(10, 1)]);
  const heads = having(all, 409).filter(({ method }) => method === "HEAD");
  await ask(server, heads, 409, { headers: {}, given: { upload_id: upload.id } });
});

/** A shared store has no disk of ours. */
const hasDisk = !Deno.env.has("KVDRIVE_TEST_DENOKV");

Deno.test({
  name: "Every operation that stores bytes answers 507 where the disk has no room for them.",
  ignore: !hasDisk,
  fn: answersFull,
});

async function answersFull(): Promise<void> {
  await using server = await TestServer.start({ args: ["--disk-reserve", String(2 ** 52)] });
  const all = await readOperations(server.origin);
  // The others store records only, which a full disk is asked to take when they are committed.
  const storing = having(all, 507).filter(({ method, path }) =>
    method === "POST" && /^\/v1\/.*\/(files|uploads|parts)$/.test(path)
  );
  assertEquals(storing.length, 3);
  await ask(server, storing, 507, { headers: { "Content-Length": "1" } });
}

Deno.test("Every operation answers 503 while the server is shutting down.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const all = await readOperations(server.origin);
  const gated = new GatedBody(patternBytes(6 * 2 ** 20, 1));
  const drive = new Drive(server, "drive");
  const pending = drive.send("POST", "/files?name=a", { body: gated.stream });
  await gated.halfSent;
  await drive.names();
  server.process.kill("SIGTERM");
  const end = Date.now() + 60_000;
  while ((await drive.send("GET", "/files")).status !== 503) {
    assert(Date.now() < end, "The server went on as if there had been no signal");
    await delay(20);
  }
  // Metrics are told to the end.
  const turnedAway = having(all, 503).filter(({ path }) => path !== "/metrics");
  await ask(server, turnedAway, 503, { headers: ADMINISTRATOR });
  gated.open();
  (await pending).expect(201);
  assertEquals((await deadline(server.process.status, 60_000)).code, 0);
});
