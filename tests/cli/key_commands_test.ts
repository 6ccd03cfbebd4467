import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { PROJECT_ID, PROJECT_KEY as FIRST_KEY, TestServer } from "../support/server.ts";
import {
  PROJECT_KEY,
  ShopStore,
  statusWith,
  StoreCommands,
  TIME,
  waitUntilKnown,
} from "../support/store/commands.ts";

interface NewKey {
  name: string | null;
  prefix: string;
  project_key: string;
  created: string;
}

interface Keys {
  keys: { prefix: string; name: string | null; created: string }[];
}

Deno.test("A project gets another key, which is shown once and listed by its prefix.", async () => {
  await using shop = await ShopStore.make();
  const made = await shop.json<NewKey>("key", "create", "shop", "--name", "laptop");
  const { name, prefix, project_key, created } = made;
  assertEquals(Object.keys(made).length, 9);
  assertEquals([name, prefix], ["laptop", project_key.slice("shop_".length).slice(0, 8)]);
  assertEquals(PROJECT_KEY.exec(project_key)?.[1], "shop");
  assertMatch(created, TIME);
  const { keys } = await shop.json<Keys>("key", "list", "shop");
  assertEquals(keys.map((key) => key.name), [null, "laptop"]);
  const { project_key: _secret, ...listed } = made;
  assertEquals(keys[1], listed);
  const table = await shop.text("key", "list", "shop");
  assertStringIncludes(table, `\n${prefix}  laptop  ${created}  all `);
  assert(!table.includes(project_key));
});

Deno.test("A key without a name is shown for people.", async () => {
  await using shop = await ShopStore.make();
  const text = await shop.text("key", "create", "shop");
  assertMatch(text, /^Project key: {2}shop_[A-Za-z0-9]{32}\n\n.*shown only once.*\n$/);
  const { keys } = await shop.json<Keys>("key", "list", "shop");
  assertEquals(keys.map(({ name }) => name), [null, null]);
});

Deno.test("A key opens a running server at once, and revoked soon nothing any more.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const { prefix, project_key } = await commands.json<NewKey>("key", "create", PROJECT_ID);
  assertEquals(await statusWith(server, project_key), 200);
  const revoked = await commands.json("key", "revoke", PROJECT_ID, prefix, "--yes");
  assertEquals(revoked, { prefix });
  await waitUntilKnown(async () => await statusWith(server, project_key) === 401);
  assertEquals(await statusWith(server, FIRST_KEY), 200);
  const { keys } = await commands.json<Keys>("key", "list", PROJECT_ID);
  assert(!keys.some((key) => key.prefix === prefix));
});

Deno.test("The last key can be revoked too, and another one made then.", async () => {
  await using shop = await ShopStore.make();
  const [[prefix = ""] = []] = await shop.rows("key", "list", "shop");
  assertMatch(await shop.text("key", "revoke", "shop", prefix, "-y"), /revoked.*5 seconds/);
  assertEquals(await shop.text("key", "list", "shop"), "The project shop has no keys.\n");
  await shop.refused(1, /no key.*kvdrive key list/, "key", "revoke", "shop", prefix, "--yes");
  await shop.text("key", "create", "shop");
  assertEquals((await shop.rows("key", "list", "shop")).length, 1);
});

Deno.test("Keys that are made at the same time beside a busy server are all there.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  let isDone = false;
  const uploads = Array.from({ length: 4 }, async (_, i) => {
    while (!isDone) {
      const init = { method: "POST", body: "x".repeat(1000) };
      const stored = await server.fetch("drive", `/files?name=${i}`, init);
      assertEquals(stored.status, 201, await stored.text());
    }
  });
  const names = Array.from({ length: 6 }, (_, i) => `key ${i}`);
  const making = names.map((name) => commands.text("key", "create", PROJECT_ID, "-n", name));
  await Promise.all(making).finally(() => void (isDone = true));
  await Promise.all(uploads);
  const { keys } = await commands.json<Keys>("key", "list", PROJECT_ID);
  assertEquals(keys.flatMap(({ name }) => name ?? []).sort(), names);
});

const REFUSED: readonly { args: string[]; code: number; says: RegExp }[] = [
  { args: ["create"], code: 2, says: /PROJECT is missing.*kvdrive key create PROJECT/ },
  { args: ["create", "unknown"], code: 1, says: /no project "unknown"/ },
  { args: ["create", "shop", "--name", " "], code: 2, says: /--name is blank/ },
  { args: ["create", "shop", "--name"], code: 2, says: /--name.*kvdrive key create PROJECT/ },
  { args: ["create", "shop", "laptop"], code: 2, says: /Too many arguments/ },
  { args: ["list"], code: 2, says: /PROJECT is missing.*kvdrive key list PROJECT/ },
  { args: ["list", "unknown"], code: 1, says: /no project "unknown"/ },
  { args: ["revoke", "shop"], code: 2, says: /PREFIX is missing.*kvdrive key revoke PROJECT/ },
  { args: ["revoke", "shop", "abcdefgh"], code: 2, says: /without a terminal.*--yes/ },
  { args: ["revoke", "shop", "abcdefgh", "--yes"], code: 1, says: /no key.*"abcdefgh"/ },
  { args: ["revoke", "unknown", "abcdefgh", "--yes"], code: 1, says: /no project "unknown"/ },
  { args: ["revoke", "shop", "abc", "--yes"], code: 2, says: /PREFIX must be the 8 characters/ },
];

Deno.test("Impossible commands are refused and change nothing.", async () => {
  await using shop = await ShopStore.make();
  const before = await shop.json("key", "list", "shop");
  for (const { args, code, says } of REFUSED) await shop.refused(code, says, "key", ...args);
  assertEquals(await shop.json("key", "list", "shop"), before);
});

Deno.test("A key in the place of something else is never repeated.", async () => {
  await using shop = await ShopStore.make();
  const secret = shop.key.slice("shop_".length);
  const calls = [
    ["key", "list", shop.key],
    ["key", "list", secret],
    ["key", "create", "shop", secret],
    ["key", "revoke", "shop", shop.key, "--yes"],
    ["key", "revoke", "shop", secret, "--yes"],
    ["project", "delete", shop.key, "--yes"],
    ["app", "delete", "shop", shop.key, "--yes"],
    ["access", "on", "shop", secret],
    ["app-key", "revoke", "shop", "blog", "--name", secret, "--yes"],
    ["app-key", "list", "shop", `abcdefgh.${secret}`],
    ["key", secret, "shop"],
    [secret],
  ];
  for (const args of calls) {
    const { code, stdout, stderr } = await shop.run(...args);
    assert(code === 1 || code === 2, stderr);
    assert(!(stdout + stderr).includes(secret), stderr);
  }
});
