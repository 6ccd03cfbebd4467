import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { assertRefused, namesIn, runCommand } from "../support/command.ts";
import { ProfileDesk } from "../support/cli/profiles.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { unusedPort } from "../support/processes/ports.ts";

interface Listed {
  profiles: {
    name: string;
    url: string;
    project_id: string | null;
    administrator: boolean;
    current: boolean;
  }[];
}

Deno.test("login saves a key or a token, says which it is, and only the owner can read it.", async () => {
  await using desk = await ProfileDesk.open();
  const url = desk.server.origin;
  assertMatch(await desk.login(), /^Logged in to \S+ with the administrator's token/);
  assertMatch(
    await desk.loginToProject("--profile", "work"),
    new RegExp(`with a key of the project ${PROJECT_ID} \\(read, write, delete, list, admin\\)\\.`),
  );
  const { mode } = await Deno.stat(desk.file);
  assertEquals((mode ?? 0) & 0o777, 0o600);
  assertEquals(((await Deno.stat(desk.folder.at("config/kvdrive"))).mode ?? 0) & 0o777, 0o700);
  const { profiles } = await desk.json<Listed>("profile", "list");
  assertEquals(profiles, [
    { name: "default", url, project_id: null, administrator: true, current: false },
    { name: "work", url, project_id: PROJECT_ID, administrator: false, current: true },
  ]);
  const table = await desk.text("profile", "list");
  for (const secret of [ADMIN_TOKEN, PROJECT_KEY]) assert(!table.includes(secret));
  // Nothing else was left behind by the atomic writes.
  assertEquals(await namesIn(desk.folder.at("config/kvdrive")), [
    "profiles.json",
    "profiles.json.lock",
  ]);
});

Deno.test("login saves nothing that the server does not know, and repeats no secret.", async () => {
  await using desk = await ProfileDesk.open();
  const url = desk.server.origin;
  const wrong = "swordfish0123456789swordfish";
  const cases: [input: string, args: string[], code: number, says: RegExp][] = [
    [`${wrong}\n`, [url], 1, /does not know that key/],
    [`${PROJECT_ID}_${wrong}\n`, [url], 1, /does not know that key/],
    ["swordfish\n", [url], 1, /That is no key/],
    ["\n", [url], 2, /No key: type it/],
    ["", [url], 2, /No key/],
    [`${wrong}\n`, ["files.example.com"], 2, /must look like https:\/\//],
    [`${wrong}\n`, [`http://me:${wrong}@127.0.0.1`], 2, /without a user/],
    [`${wrong}\n`, [`http://127.0.0.1:${unusedPort()}`], 1, /Cannot reach .*refused/],
    [`${PROJECT_KEY}\n`, [url, "--profile", "a/b"], 2, /Bad name of a profile/],
  ];
  for (const [input, args, code, says] of cases) {
    const run = await desk.runWith(input, ["login", ...args, "--retry-for", "0"]);
    assertRefused(run, code, says);
    assert(!run.stderr.includes("swordfish"), run.stderr);
  }
  assert(!await desk.folder.has("config/kvdrive/profiles.json"));
});

Deno.test("whoami names the server, the profile and what the key allows.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  const { project_key } = await desk.json<{ project_key: string }>(
    ...["key", "create", PROJECT_ID, "--permissions", "read,list", "--drives", "photos"],
    ...["--name-prefix", "2021/", "--expires-in", "1d"],
  );
  assertMatch(await desk.text("whoami"), /Profile: +default\nAccess: +the administrator of all/);
  await desk.login(project_key, "--profile", "reader");
  const text = await desk.text("whoami");
  assertStringIncludes(text, `Server:   ${desk.server.origin}\nProfile:  reader\n`);
  assertMatch(
    text,
    /\(read, list; only the drive photos; only names that begin with 2021\/; until/,
  );
  const { permissions, drives } = await desk.json<{ permissions: string[]; drives: string[] }>(
    "whoami",
  );
  assertEquals([permissions, drives], [["read", "list"], ["photos"]]);
  const denied = await desk.run(["project", "list"]);
  assertRefused(denied, 1, /project key does not allow this/);
  const stranger = await runCommand(["whoami"], { XDG_CONFIG_HOME: desk.folder.at("empty") });
  assertRefused(stranger, 2, /No project key: .*kvdrive login/);
});

Deno.test("profile use, --profile and logout choose and remove profiles.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  await desk.loginToProject("--profile", "work");
  assertMatch(await desk.text("profile", "use", "default"), /now talk to/);
  await desk.text("project", "list");
  assertRefused(await desk.run(["project", "list", "--profile", "work"]), 1, /does not allow/);
  assertEquals((await desk.run(["ls", "--profile", "work"])).code, 0);
  for (const args of [["profile", "use"], ["logout", "--profile"], ["ls", "--profile"]]) {
    assertRefused(await desk.run([...args, "other"]), 1, /no profile "other": see kvdrive profile/);
  }
  assertMatch(await desk.text("logout"), /profile default .* is removed/);
  const { profiles } = await desk.json<Listed>("profile", "list");
  assertEquals(profiles.map(({ name, current }) => [name, current]), [["work", false]]);
  assertRefused(await desk.run(["logout"]), 1, /no current profile/);
  assert(!(await Deno.readTextFile(desk.file)).includes(ADMIN_TOKEN));
});

Deno.test("KVDRIVE_URL and KVDRIVE_KEY win over the profile, whose key goes to no other server.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  await using proxy = Proxy.start(desk.server.origin);
  const url = proxy.origin;
  const withoutKey = await desk.run(["project", "list"], { KVDRIVE_URL: url });
  assertRefused(withoutKey, 2, /No project key/);
  assertEquals(proxy.seen, []);
  const env = { KVDRIVE_URL: url, KVDRIVE_KEY: PROJECT_KEY };
  assertEquals((await desk.run(["ls"], env)).code, 0);
  assertEquals(proxy.seen.map(({ headers }) => headers.get("x-api-key")), [PROJECT_KEY]);
  const byToken = { KVDRIVE_URL: url, KVDRIVE_KEY: ADMIN_TOKEN };
  assertEquals((await desk.run(["project", "list"], byToken)).code, 0);
  // The key of the environment, at the address of the profile.
  const { stdout } = await desk.run(["whoami", "--json"], { KVDRIVE_KEY: PROJECT_KEY });
  assertEquals(JSON.parse(stdout).project_id, PROJECT_ID);
});

Deno.test("With the administrator's token, file commands need the project.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  assertRefused(await desk.run(["ls"]), 1, /choose one with --project/);
  assertEquals((await desk.run(["ls", "--project", PROJECT_ID])).code, 0);
});

Deno.test("A file of profiles that others can read, or that is damaged, is refused.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  await Deno.chmod(desk.file, 0o644);
  assertRefused(await desk.run(["project", "list"]), 1, /Other users can read .* chmod 600/);
  await Deno.chmod(desk.file, 0o600);
  for (const text of ["", "{", "[]x", '{"profiles":{"a":{"url":1}}}', '{"profiles":{"a":null}}']) {
    await Deno.writeTextFile(desk.file, text);
    assertRefused(await desk.run(["profile", "list"]), 1, /profiles\.json is damaged: correct it/);
  }
});

Deno.test("Logins at the same time are all kept.", async () => {
  await using desk = await ProfileDesk.open();
  const names = ["a", "b", "c", "d"];
  await Promise.all(names.map((name) => desk.loginToProject("--profile", name)));
  const { profiles } = await desk.json<Listed>("profile", "list");
  assertEquals(profiles.map(({ name }) => name).sort(), names);
});
