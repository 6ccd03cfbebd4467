import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { ShopStore, StoreCommands, waitUntilKnown } from "../support/store/commands.ts";

/** Every command that works on the store, as it is called. */
const CALLS: readonly string[][] = [
  ["project", "create"],
  ["project", "list"],
  ["project", "show", "shop"],
  ["project", "change", "shop", "--max-bytes", "1GB"],
  ["project", "delete", "shop", "--yes"],
  ["key", "create", "shop"],
  ["key", "list", "shop"],
  ["key", "revoke", "shop", "abcdefgh", "--yes"],
  ["app", "create", "shop", "blog", "--upstream", "http://127.0.0.1:3000"],
  ["app", "list", "shop"],
  ["app", "show", "shop", "blog"],
  ["app", "change", "shop", "blog", "--host", "none"],
  ["app", "delete", "shop", "blog", "--yes"],
  ["access", "on", "shop", "blog"],
  ["access", "off", "shop", "blog"],
  ["app-key", "create", "shop", "blog", "--name", "agent"],
  ["app-key", "list", "shop", "blog"],
  ["app-key", "revoke", "shop", "blog", "--name", "agent", "--yes"],
  ["event", "list", "shop"],
  ["link", "rotate-key", "--yes"],
  ["admin-token", "reset", "--yes"],
];

const GROUPS = ["project", "key", "app", "access", "app-key", "event", "admin-token"];

/** The words of a command, without what it is called with. */
function nameOf([group = "", command = ""]: readonly string[]): string {
  return `${group} ${command}`;
}

const MAKES_STORE = ["project create", "admin-token reset"];

Deno.test("Without a store a command creates none and reports the path.", async () => {
  await using folder = await Folder.make();
  const file = await folder.write("file", "not a folder");
  await Deno.mkdir(folder.at("empty"));
  await Deno.mkdir(folder.at("blank"));
  await folder.write("blank/kvdrive.db", "\n");
  const refuse = async (data: string, args: string[]) => {
    const run = await runCommand(args, { KVDRIVE_DATA: data });
    assertRefused(run, 1, /^kvdrive: There is no store in /);
    assertStringIncludes(run.stderr, `${data}/kvdrive.db`);
  };
  for (const args of CALLS) {
    if (!MAKES_STORE.includes(nameOf(args))) await refuse(folder.at("missing"), args);
  }
  for (const data of [folder.at("empty"), folder.at("blank"), file]) {
    await refuse(data, ["project", "list"]);
  }
  assert(!await folder.has("missing"));
  assertEquals(await Array.fromAsync(Deno.readDir(folder.at("empty"))), []);
  assertEquals(await Deno.readTextFile(folder.at("blank/kvdrive.db")), "\n");
});

Deno.test("A folder that cannot hold a store is refused with one sentence.", async () => {
  await using folder = await Folder.make();
  const file = await folder.write("file", "not a folder");
  await Deno.mkdir(folder.at("damaged"));
  const garbage = crypto.getRandomValues(new Uint8Array(20_000));
  await folder.write("damaged/kvdrive.db", garbage);
  for (const data of [file, folder.at("damaged")]) {
    const commands = new StoreCommands(data);
    for (const args of [["project", "create"], ["admin-token", "reset", "--yes"]]) {
      await commands.refused(1, new RegExp(RegExp.escape(data)), ...args);
    }
  }
  await new StoreCommands(folder.at("damaged")).refused(1, /damaged/, "project", "list");
  assertEquals(await Deno.readTextFile(file), "not a folder");
  assertEquals(await Deno.readFile(folder.at("damaged/kvdrive.db")), garbage);
});

Deno.test("The folder is that of --data, of KVDRIVE_DATA, or ./data, in this order.", async () => {
  await using shop = await ShopStore.make();
  const wrong = { KVDRIVE_DATA: shop.folder.at("wrong") };
  const list = ["project", "list", "--json"];
  const byFlag = await runCommand([...list, "--data", shop.data], wrong);
  const byVariable = await runCommand(list, { KVDRIVE_DATA: shop.data });
  assertEquals([byFlag.code, byFlag.stdout], [0, byVariable.stdout]);
  assertRefused(await runCommand([...list, "--data="], wrong), 2, /--data needs a value/);
});

Deno.test("Every command has a help that shows its form.", async () => {
  const { stdout: all } = await runCommand(["help"]);
  for (const args of CALLS) {
    const name = nameOf(args);
    assertStringIncludes(all, `kvdrive ${name} `);
    const [group = "", command = ""] = args;
    const asked = await runCommand(["help", group, command]);
    assertEquals([asked.code, asked.stderr], [0, ""]);
    for (const part of [`  kvdrive ${name}`, "--data DIR", "--json"]) {
      assertStringIncludes(asked.stdout, part);
    }
    assertEquals(asked.stdout.includes("-y, --yes"), args.includes("--yes"), name);
    assertEquals((await runCommand([...args, "--help"])).stdout, asked.stdout);
  }
});

Deno.test("Every group of commands has a help, and is no command itself.", async () => {
  for (const group of GROUPS) {
    const { code, stdout } = await runCommand(["help", group]);
    assertEquals(code, 0);
    assertEquals((await runCommand([group, "--help"])).stdout, stdout);
    const commands = CALLS.filter(([first]) => first === group);
    for (const args of commands) assertStringIncludes(stdout, `  kvdrive ${nameOf(args)}`);
    const names = commands.map(([, name]) => name).join(", ");
    const advice = new RegExp(`${names}; see kvdrive help ${group}`);
    assertRefused(await runCommand([group]), 2, advice);
    assertRefused(await runCommand([group, "mkae"]), 2, /Unknown command "mkae"/);
    assertRefused(await runCommand([group, "mkae"]), 2, advice);
  }
  assertRefused(await runCommand(["help", "mkae"]), 2, /Unknown command "mkae"/);
});

Deno.test("A new administrator's token takes the place of the earlier one.", async () => {
  const first = "a-token-of-the-administrator-0123456789";
  await using server = await TestServer.start({ env: { KVDRIVE_ADMIN_TOKEN: first } });
  const statusOf = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.origin}/admin/v1/projects`, { headers });
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals(await statusOf(first), 200);
  const commands = new StoreCommands(server.data);
  const { admin_token } = await commands.json<{ admin_token: string }>(
    "admin-token",
    "reset",
    "--yes",
  );
  assertMatch(admin_token, /^[A-Za-z0-9]{32}$/);
  await waitUntilKnown(async () => await statusOf(first) === 401);
  assertEquals(await statusOf(admin_token), 200);
  const text = await commands.text("admin-token", "reset", "-y");
  assertMatch(text, /^Administrator's token: {2}[A-Za-z0-9]{32}\n\n.*shown only once.*\n$/);
  assert(!text.includes(admin_token));
});

Deno.test("An administrator's token can be the first thing in a store.", async () => {
  await using folder = await Folder.make();
  const commands = new StoreCommands(folder.at("data"));
  await commands.refused(
    2,
    /without a terminal.*kvdrive admin-token reset/,
    "admin-token",
    "reset",
  );
  assert(!await folder.has("data"));
  const { code, stdout, stderr } = await commands.run("admin-token", "reset", "--yes", "--json");
  assertEquals([code, stderr], [0, `Created a new store in ${commands.data}.\n`]);
  const { admin_token } = JSON.parse(stdout) as { admin_token: string };
  await using server = await TestServer.start({ data: commands.data });
  const headers = { Authorization: `Bearer ${admin_token}` };
  const answer = await fetch(`${server.origin}/admin/v1/projects`, { headers });
  assertEquals(answer.status, 200, await answer.text());
  assert(!/token/i.test(server.text), "The server made another token");
});

Deno.test("The permissions that the tasks grant are enough for every command.", async () => {
  const text = await Deno.readTextFile(new URL("../../deno.json", import.meta.url));
  const { tasks } = JSON.parse(text) as { tasks: { kvdrive: { command: string } } };
  const [, options] = /deno run (.*) "\$ROOT\/main\.ts"$/.exec(tasks.kvdrive.command) ?? [];
  assert(options !== undefined && !/-A|--allow-all/.test(options), tasks.kvdrive.command);
  const runtime = options.split(" ");
  await using shop = await ShopStore.make(await Folder.makeOnDisk());
  await shop.text("app", "create", "shop", "wiki", "--upstream", "http://127.0.0.1:3000");
  const outfile = ["app-key", "create", "shop", "blog", "-n", "b", "-o"];
  const calls = [
    ["project", "create"],
    ["project", "list"],
    ["project", "show", "shop"],
    ["project", "change", "shop", "--max-bytes", "1GB"],
    ["key", "create", "shop"],
    ["key", "list", "shop"],
    ["key", "revoke", "shop", shop.key.slice("shop_".length).slice(0, 8), "--yes"],
    ["app", "create", "shop", "blog", "--upstream", "http://127.0.0.1:3000"],
    ["app", "list", "shop"],
    ["app", "show", "shop", "blog"],
    ["app", "change", "shop", "blog", "--host", "none"],
    ["access", "on", "shop", "blog"],
    ["app-key", "create", "shop", "blog", "-n", "agent"],
    [...outfile, shop.folder.at("key")],
    ["app-key", "list", "shop", "blog"],
    ["event", "list", "shop"],
    ["app-key", "revoke", "shop", "blog", "-n", "agent", "--yes"],
    ["access", "off", "shop", "blog"],
    ["link", "rotate-key", "--yes"],
    ["app", "delete", "shop", "blog", "--yes"],
    ["admin-token", "reset", "--yes"],
    ["project", "delete", "shop", "--yes"],
  ];
  assertEquals(new Set(calls.map(nameOf)), new Set(CALLS.map(nameOf)));
  for (const args of calls) {
    const { code, stderr } = await runCommand([...args, "--data", shop.data], {}, runtime);
    assertEquals([code, stderr], [0, ""], args.join(" "));
  }
});
