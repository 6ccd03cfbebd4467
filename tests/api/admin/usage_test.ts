import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  administer,
  ADMINISTERED,
  assertPrivate,
  type Caller,
  Project,
  PROJECTS,
} from "../../support/admin.ts";
import type { Answer } from "../../support/answer.ts";
import { Folder } from "../../support/command.ts";
import { makeLink, visit } from "../../support/sharing/links.ts";
import { TestServer } from "../../support/server.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("The usage by day", ADMINISTERED);

function assertRefused(answer: Answer, status: number, text = ""): void {
  assertErrorAnswer(answer.expect(status));
  assertStringIncludes(answer.text, text);
}

const SERVER_USAGE = "/admin/v1/usage";

interface Day {
  date: string;
  files: number;
  bytes: number;
  requests: number;
  received: number;
  sent: number;
}

async function daysOf(
  server: { origin: string },
  path: string,
  as?: Caller,
): Promise<Day[]> {
  const answer = await administer(server, "GET", path, as === undefined ? {} : { as });
  assertPrivate(answer.expect(200));
  const { days } = answer.json as { days: Day[] };
  for (const day of days) {
    assertEquals(Object.keys(day), ["date", "files", "bytes", "requests", "received", "sent"]);
    assertMatch(day.date, /^\d{4}-\d\d-\d\d$/);
  }
  return days;
}

/** The figures of the days together: a test may run across midnight. */
function totals(days: Day[]): Omit<Day, "date"> {
  const { files = 0, bytes = 0 } = days.at(-1) ?? {};
  const sum = { files, bytes, requests: 0, received: 0, sent: 0 };
  for (const { requests, received, sent } of days) {
    sum.requests += requests;
    sum.received += received;
    sum.sent += sent;
  }
  return sum;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

test("The owner and the administrator see the files and bytes of today at once.", async ({ server }) => {
  const project = await Project.make(server);
  const before = today();
  const drive = project.drive("photos");
  await drive.put("a.txt", "12345");
  await drive.put("b.txt", "1234567");
  for (const days of ["", "?days=1", "?days=30", "?days=400", "?days=007"]) {
    const own = await daysOf(server, `${project.path}/usage${days}`, project.owner);
    assert([before, today()].includes(own.at(-1)?.date ?? ""), JSON.stringify(own));
    assert(own.length <= 2, "days before the project are left out");
    assertEquals([own.at(-1)?.files, own.at(-1)?.bytes], [2, 12]);
    assertEquals(await daysOf(server, `${project.path}/usage${days}`), own);
  }
  const all = (await daysOf(server, SERVER_USAGE)).at(-1);
  assert(all !== undefined && all.files >= 2 && all.bytes >= 12, JSON.stringify(all));
});

for (const days of ["0", "401", "-1", "1.5", "1e2", "", "abc", "%2B1", "99999999999999999999"]) {
  test(`?days=${days} is 400.`, async ({ server }) => {
    const project = await Project.make(server);
    for (const path of [`${project.path}/usage`, SERVER_USAGE]) {
      const answer = await administer(server, "GET", `${path}?days=${days}`);
      assertRefused(answer, 400, "a whole number from 1 to 400");
    }
  });
}

test("A repeated number of days is 400.", async ({ server }) => {
  const answer = await administer(server, "GET", `${SERVER_USAGE}?days=1&days=2`);
  assertRefused(answer, 400, "days");
});

test("A project that does not exist has no figures.", async ({ server }) => {
  assertRefused(await administer(server, "GET", `${PROJECTS}/none/usage`), 404, "none");
});

test("A key that is limited, or does not administer, is refused.", async ({ server }) => {
  const project = await Project.make(server);
  for (const limits of [{ drives: ["d"] }, { name_prefix: "a" }, { permissions: ["read"] }]) {
    const { project_key } = await project.makeKey(limits);
    const answer = await project.call("GET", "/usage", { as: { "X-Api-Key": project_key } });
    assertRefused(answer, 403);
  }
});

Deno.test("The requests of two servers on one store are counted, also those of links.", async () => {
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.at("data") };
  await Deno.mkdir(options.data, { mode: 0o700 });
  await using first = await TestServer.start(options);
  const project = await Project.make(first);
  await using second = await TestServer.start(options);
  await project.drive("d").put("a.txt", "12345");
  const link = await makeLink(project.drive("d"), { name: "a.txt" });
  const elsewhere = new Project(second, project.id, project.key);
  (await elsewhere.drive("d").get("a.txt")).expect(200);
  (await visit(link.url)).expect(200);
  (await elsewhere.drive("d").get("none.txt")).expect(404);
  // These count for no project: the sender may not use it, or it does not exist.
  await visit(`${new URL(link.url).origin}/s/none`);
  await elsewhere.with(`${project.id}_wrong`).drive("d").get("a.txt");
  await elsewhere.with(`other_${"x".repeat(32)}`).drive("d").get("a.txt");
  for (const server of [first, second]) assertEquals((await server.stop()).code, 0);
  await using third = await TestServer.start(options);
  const days = await daysOf(third, `${project.path}/usage`, project.owner);
  const { files, bytes, requests, received, sent } = totals(days);
  assertEquals({ files, bytes, requests }, { files: 1, bytes: 5, requests: 5 });
  assert(received > 5 && received < 1000, `${received}`);
  assert(sent > 10 && sent < 5000, `${sent}`);
  const all = totals(await daysOf(third, SERVER_USAGE));
  assertEquals({ files: all.files, bytes: all.bytes }, { files, bytes });
  assert(all.requests >= requests && all.sent >= sent);
  (await administer(third, "DELETE", project.path)).expect(202);
  await third.stop();
  await using fourth = await TestServer.start(options);
  assertRefused(await administer(fourth, "GET", `${project.path}/usage`), 404);
  const after = totals(await daysOf(fourth, SERVER_USAGE));
  assertEquals({ ...after, requests: 0 }, {
    ...all,
    files: 0,
    bytes: 0,
    requests: 0,
    sent: after.sent,
  });
  assert(after.sent > all.sent, "the figures of the server outlive a project");
});

Deno.test("A server that is killed loses no files and bytes.", async () => {
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.at("data") };
  await Deno.mkdir(options.data, { mode: 0o700 });
  await using killed = await TestServer.start(options);
  const project = await Project.make(killed);
  await project.drive("d").put("a.txt", "12345");
  await killed.stop("SIGKILL");
  await using server = await TestServer.start(options);
  const days = await daysOf(server, `${project.path}/usage`, project.owner);
  assertEquals(totals(days), { files: 1, bytes: 5, requests: 0, received: 0, sent: 0 });
});
