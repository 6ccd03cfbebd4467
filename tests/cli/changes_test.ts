import { assert, assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { administer, PROJECTS } from "../support/admin.ts";
import { ClientWorkspace, waitUntil } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { PROJECT_ID } from "../support/server.ts";

interface Change {
  id: string;
  at: string;
  type: string;
  name: string;
}

async function openDesk(): Promise<ClientWorkspace> {
  const desk = await ClientWorkspace.open();
  const body = { change_days: 7 };
  (await administer(desk.server, "PATCH", `${PROJECTS}/${PROJECT_ID}`, { body })).expect(200);
  return desk;
}

Deno.test("changes prints what happened in a drive, and continues after a cursor.", async () => {
  await using desk = await openDesk();
  await desk.store("d", "a", "hello");
  await desk.text("mv", "d:a", "d:b");
  await desk.text("rm", "d:b", "--yes");
  const { code, stdout, stderr } = await desk.run(["changes", "d"]);
  assertEquals(code, 0);
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  assertMatch(
    stdout,
    new RegExp(`^${time}  put     a  5 B\n${time}  move    a -> b  5 B\n${time}  delete  b\n$`),
  );
  const cursor = /--since (\S+)/.exec(stderr)?.[1] ?? "";
  assertEquals(await desk.text("changes", "d", "--since", cursor), "");
  const [first, ...rest] = await desk.json<Change>("changes", "d");
  assertEquals(first?.type, "put");
  assertEquals(await desk.json<Change>("changes", "d", "--since", first?.id ?? ""), rest);
  assertEquals(await desk.text("changes", "d", "--since", "now"), "");
  assertEquals(await desk.text("changes", "empty", "--json"), "");
});

Deno.test("changes --follow prints each change as it is made.", async () => {
  await using desk = await openDesk();
  await desk.store("d", "before", "x");
  await using proxy = Proxy.start(desk.server.origin);
  const there = { url: proxy.origin };
  const all = desk.start(["changes", "d", "--follow", "--json"], there);
  const later = desk.start(["changes", "d", "--follow", "--since", "now"], there);
  const outputs = Promise.all([all.finished(), later.finished()]);
  // The first page, of changes since 0, is answered at once.
  const waits = () => proxy.count("GET", /since=(?!0&).*wait=[1-9]/);
  await waitUntil("both wait for changes", () => waits() >= 2);
  await desk.store("d", "after", "x");
  await waitUntil("both wait again", () => waits() >= 4);
  await all.kill("SIGTERM");
  await later.kill("SIGTERM");
  const [first, second] = await deadline(outputs, 60_000);
  const names = first.stdout.trim().split("\n").map((line) => (JSON.parse(line) as Change).name);
  assertEquals(names, ["before", "after"]);
  assertMatch(second.stdout, /^\S+ {2}put {5}after {2}1 B\n$/);
});

Deno.test("changes says why there are none.", async () => {
  await using desk = await ClientWorkspace.open();
  const off = await desk.run(["changes", "d"]);
  assertEquals(off.code, 1);
  assertMatch(off.stderr, /keeps no changes: .* kvdrive project change \S+ --change-days 7\n$/);
  await using other = await openDesk();
  const wrong = await other.run(["changes", "d", "--since", "nonsense"]);
  assertEquals(wrong.code, 1);
  assert(wrong.stderr.includes("nonsense"), wrong.stderr);
  assertEquals((await other.run(["changes"])).code, 2);
  assertEquals((await other.run(["changes", "a/b"])).code, 2);
});

Deno.test("project change sets how long changes are kept.", async () => {
  await using desk = await openDesk();
  const admin = ["--data", desk.server.data];
  const set = (days: string) =>
    desk.run(["project", "change", PROJECT_ID, "--change-days", days, ...admin]);
  const { code, stdout } = await set("30");
  assertEquals(code, 0);
  assertMatch(stdout, /feed of changes is kept for 30 days\./);
  const shown = await desk.text("project", "show", PROJECT_ID, ...admin);
  assertMatch(shown, /^Changes: {2}kept for 30 days$/m);
  for (const wrong of ["91", "-1", "x", "1.5"]) assertEquals((await set(wrong)).code, 2);
  assertMatch((await set("0")).stdout, /feed of changes is off\./);
});
