import { assert, assertEquals, assertMatch } from "@std/assert";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { assertRefused } from "../support/command.ts";
import { ProfileDesk } from "../support/cli/profiles.ts";
import { broken, Proxy } from "../support/cli/proxy.ts";
import { PROJECT_ID } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";

const UPSTREAM = "http://127.0.0.1:3000";

/** Commands that change something or list it, in an order in which all can be done. */
const CALLS: readonly string[][] = [
  ["project", "create", "Album", "--id", "album", "--max-bytes", "10GB"],
  ["project", "list"],
  ["project", "show", "album"],
  ["project", "change", "album", "--max-bytes", "none", "--trash-days", "3"],
  ["project", "change", "album", "--host-suffix", "apps.example.com"],
  ["key", "create", "album", "--name", "ci", "--permissions", "read", "--drives", "a,b"],
  ["key", "list", "album"],
  ["app", "create", "album", "viewer", "--upstream", UPSTREAM, "--host", "V.example.com"],
  ["app", "list", "album"],
  ["app", "show", "album", "viewer"],
  ["app", "change", "album", "viewer", "--host", "none"],
  ["access", "on", "album", "viewer"],
  ["app-key", "create", "album", "viewer", "--name", "ci", "--desc", "nightly"],
  ["app-key", "list", "album", "viewer"],
  ["app-key", "revoke", "album", "viewer", "--name", "ci", "--yes"],
  ["access", "off", "album", "viewer"],
  ["app", "delete", "album", "viewer", "--yes"],
  ["event", "list", "album"],
  ["project", "delete", "album", "--yes"],
];

/** A result without what differs in each run: secrets, prefixes, times and who did it. */
function comparable(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME")
    .replaceAll(/"(id|prefix|api_key|project_key|by|address)":"[^"]*"/g, '"$1":""')
    .replaceAll(/album_\w{32}|\b[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}/g, "SECRET")
    .replaceAll(/viewer\/\w{8}|"target":"\w{8}"/g, "PREFIX");
}

Deno.test("Every command prints the same over HTTP and on a store.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  const local = new StoreCommands(desk.folder.at("store"));
  assertEquals((await local.run("project", "create", "--id", "first")).code, 0);
  for (const args of CALLS) {
    if (args[1] === "list" && args.length === 2) continue;
    const json = [await desk.text(...args, "--json"), await local.text(...args, "--json")];
    assertEquals(comparable(json[0] ?? ""), comparable(json[1] ?? ""), args.join(" "));
  }
  for (const args of CALLS) {
    if (args[0] === "event" || (args[1] === "list" && args.length === 2)) continue;
    // The same name cannot be taken again while the server removes the first.
    const again = args.map((word) => word === "album" ? "second" : word);
    const text = [await desk.text(...again), await local.text(...again)];
    const lines = text.map((one) => comparable(one).replaceAll(/second_\w{32}|\w{8} {2}/g, ""));
    assertEquals(lines[0], lines[1], args.join(" "));
  }
});

Deno.test("What is not there is reported in one sentence, over HTTP too.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  const project = PROJECT_ID;
  const cases: [args: string[], says: RegExp][] = [
    [["project", "show", "absent"], /no project "absent"/i],
    [["project", "delete", "absent", "--yes"], /no project "absent"/i],
    [["key", "list", "absent"], /no project "absent"/i],
    [["key", "revoke", project, "abcdefgh", "--yes"], /no key with the prefix "abcdefgh"/],
    [["app", "show", project, "absent"], /no application "absent"/i],
    [["app", "delete", project, "absent", "--yes"], /no application "absent"/i],
    [["access", "on", project, "absent"], /no application "absent"/i],
    [["app-key", "list", project, "absent"], /no application "absent"/i],
    [["project", "create", "--id", project], /already/],
    [["app", "create", project, "x", "--upstream", UPSTREAM, "--host", "localhost"], /host/],
  ];
  for (const [args, says] of cases) assertRefused(await desk.run(args), 1, says);
});

Deno.test("--data, --kv and --url choose the place; with neither server nor profile it is the store.", async () => {
  await using desk = await ProfileDesk.open();
  const local = new StoreCommands(desk.folder.at("store"));
  assertEquals((await local.run("project", "create", "--id", "mine")).code, 0);
  const ids = async (...args: string[]) => {
    const { projects } = await desk.json<{ projects: { project_id: string }[] }>(
      ...["project", "list", ...args],
    );
    return projects.map(({ project_id }) => project_id);
  };
  const list = await desk.run(["project", "list", "--json"], { KVDRIVE_DATA: local.data });
  assertMatch(list.stdout, /"mine"/);
  await desk.login();
  assertEquals(await ids(), [PROJECT_ID]);
  assertEquals(await ids("--data", local.data), ["mine"]);
  const both = ["project", "list", "--data", local.data, "--url", desk.server.origin];
  assertRefused(await desk.run(both), 2, /--url and --data exclude each other/);
});

Deno.test("-v shows each request on standard error, and no secret.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  for (const args of [["project", "list", "-v"], ["--verbose", "ls", "--project", PROJECT_ID]]) {
    const { code, stdout, stderr } = await desk.run(args);
    assertEquals(code, 0);
    assertMatch(stderr, /^GET \/(admin\/v1\/projects|v1\/[\w-]+) 200 \d+ ms\n$/);
    assert(!(stdout + stderr).includes(ADMIN_TOKEN));
  }
});

Deno.test("A lost answer creates nothing twice: the command says that it may exist.", async () => {
  await using desk = await ProfileDesk.open();
  await using proxy = Proxy.start(desk.server.origin);
  const env = { KVDRIVE_URL: proxy.origin, KVDRIVE_KEY: ADMIN_TOKEN };
  proxy.intercept = async (request, pass) => {
    const answer = await pass();
    if (request.method !== "POST") return answer;
    await answer.body?.cancel();
    return broken();
  };
  const made = await desk.run(["key", "create", PROJECT_ID, "--name", "once"], env);
  assertRefused(made, 1, /It may have been created: look at the list before you repeat/);
  const { stdout } = await desk.run(["key", "list", PROJECT_ID, "--json"], env);
  assertEquals(stdout.split('"once"').length - 1, 1);
});

Deno.test("A server that is away for a moment is asked again; a deletion whose answer was lost succeeds.", async () => {
  await using desk = await ProfileDesk.open();
  await using proxy = Proxy.start(desk.server.origin);
  const env = { KVDRIVE_URL: proxy.origin, KVDRIVE_KEY: ADMIN_TOKEN };
  let failures = 0;
  proxy.intercept = async (request, pass) => {
    const answer = await pass();
    if (failures++ % 2 === 1) return answer;
    await answer.body?.cancel();
    return request.method === "DELETE" ? broken() : new Response(null, { status: 503 });
  };
  await desk.run(["project", "create", "--id", "album", "--retry-for", "10s"], env);
  const deleted = await desk.run(["project", "delete", "album", "--yes"], env);
  assertEquals(deleted.code, 0, deleted.stderr);
  assertMatch(deleted.stderr, /Retrying for up to 300 seconds/);
  assertMatch(deleted.stdout, /album is deleted/);
});
