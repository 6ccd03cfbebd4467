import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { API_KEY, ShopStore, StoreCommands, TIME } from "../support/store/commands.ts";

interface Key {
  name: string;
  description: string | null;
  prefix: string;
  created: string;
}

type NewKey = Key & { api_key: string };

/** A shop with an application `blog`, whose access control is on. */
async function makeBlog(): Promise<ShopStore> {
  const shop = await ShopStore.make();
  await shop.text("app", "create", "shop", "blog", "--upstream", "http://127.0.0.1:3000");
  await shop.text("access", "on", "shop", "blog");
  return shop;
}

async function accessOf(shop: ShopStore): Promise<string | undefined> {
  return (await shop.rows("app", "list", "shop"))[0]?.[1];
}

const CREATE = ["app-key", "create", "shop", "blog"];
const DELETE = ["app-key", "revoke", "shop", "blog"];
const LIST = ["app-key", "list", "shop", "blog"];

Deno.test("Access control is switched on and off, as often as one likes.", async () => {
  await using shop = await makeBlog();
  assertEquals(await shop.json("access", "on", "shop", "blog"), { enabled: true });
  assertEquals(await accessOf(shop), "on");
  assertEquals(await shop.json("access", "off", "shop", "blog"), { enabled: false });
  assertEquals(await accessOf(shop), "off");
  assertMatch(
    await shop.text("access", "off", "shop", "blog"),
    /^Access control .* is off: .*\n$/,
  );
  assertMatch(await shop.text("access", "on", "shop", "blog"), /^Access control .* is on: .*\n$/);
});

Deno.test("While access control is off no key is made, and those that there are stay.", async () => {
  await using shop = await makeBlog();
  await shop.text(...CREATE, "--name", "agent");
  await shop.text("access", "off", "shop", "blog");
  await shop.refused(1, /blog" is off: enable it first/, ...CREATE, "--name", "other");
  const outfile = shop.folder.at("key");
  await shop.refused(1, /off/, ...CREATE, "--name", "other", "--outfile", outfile);
  assert(!await shop.folder.has("key"));
  assertEquals((await shop.rows(...LIST)).map(([name]) => name), ["agent"]);
});

Deno.test("A key is shown once, and listed without its secret.", async () => {
  await using shop = await makeBlog();
  const made = await shop.json<NewKey>(...CREATE, "--name", "agent", "--desc", "for the agents");
  const { api_key, ...listed } = made;
  assertEquals([listed.name, listed.description], ["agent", "for the agents"]);
  assertEquals(API_KEY.exec(api_key)?.[1], listed.prefix);
  assertMatch(listed.created, TIME);
  const text = await shop.text(...CREATE, "-n", "brief");
  assertMatch(text, /^API key: {2}[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}\n\n.*shown only once.*\n$/);
  const { keys } = await shop.json<{ keys: Key[] }>(...LIST);
  assertEquals(keys[0], listed);
  assertEquals([keys[1]?.name, keys[1]?.description], ["brief", null]);
  const rows = await shop.rows(...LIST);
  assertEquals(rows[0], ["agent", listed.prefix, listed.created, "for the agents"]);
  assertEquals(rows[1]?.at(-1), "-");
});

Deno.test("Keys are listed as a running server lists them.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const app = [PROJECT_ID, "blog"];
  await commands.text("app", "create", ...app, "--upstream", "http://127.0.0.1:3000");
  await commands.text("access", "on", ...app);
  assertEquals(
    await commands.text("app-key", "list", ...app),
    "The application blog has no keys.\n",
  );
  await commands.text("app-key", "create", ...app, "--name", "one");
  await commands.text("app-key", "create", ...app, "--name", "two", "--desc", "2nd");
  const url = `${server.origin}/admin/v1/projects/${PROJECT_ID}/apps/blog/keys`;
  const answer = await fetch(url, { headers: { "X-Api-Key": PROJECT_KEY } });
  assertEquals(await answer.json(), await commands.json("app-key", "list", ...app));
});

Deno.test("A file that is named gets the key alone, for the eyes of its owner.", async () => {
  await using shop = await makeBlog();
  const path = shop.folder.at("my key");
  const text = await shop.text(...CREATE, "--name", "agent", "--outfile", path);
  const [, prefix = ""] = API_KEY.exec((await Deno.readTextFile(path)).replace(/\n$/, "")) ?? [];
  assertEquals((await shop.rows(...LIST))[0]?.[1], prefix);
  assertEquals(text, `The API key ${prefix} was written to ${path}. It is stored nowhere else.\n`);
  assertEquals((await Deno.stat(path)).mode, 0o100600);

  const other = shop.folder.at("other");
  const answer = await shop.json(...CREATE, "-n", "json", "-d", "x", "-o", other);
  const { keys } = await shop.json<{ keys: Key[] }>(...LIST);
  assertEquals(answer, keys[1]);
  assertMatch(await Deno.readTextFile(other), /^[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}\n$/);
});

Deno.test("An existing file is kept, and no key is created.", async () => {
  await using shop = await makeBlog();
  const path = await shop.folder.write("key", "earlier");
  await Deno.symlink(shop.folder.at("nowhere"), shop.folder.at("link"));
  const outfiles = [path, shop.folder.at("link"), shop.folder.path];
  for (const outfile of outfiles) {
    await shop.refused(1, /The file .* exists/, ...CREATE, "-n", "agent", "-o", outfile);
  }
  const missing = shop.folder.at("missing/key");
  await shop.refused(1, /Cannot create the file/, ...CREATE, "-n", "agent", "-o", missing);
  assertEquals(await Deno.readTextFile(path), "earlier");
  assert(!await shop.folder.has("nowhere"));
  assertEquals(await shop.json(...LIST), { keys: [] });
});

Deno.test("A name that is in use is refused, and leaves no file.", async () => {
  await using shop = await makeBlog();
  await shop.text(...CREATE, "--name", "agent");
  const before = await shop.json(...LIST);
  await shop.refused(1, /key "agent" already/, ...CREATE, "--name", "agent");
  const outfile = ["--outfile", shop.folder.at("key")];
  await shop.refused(1, /key "agent" already/, ...CREATE, "--name", "agent", ...outfile);
  assert(!await shop.folder.has("key"));
  assertEquals(await shop.json(...LIST), before);
});

Deno.test("A deleted key is gone, and its name is free.", async () => {
  await using shop = await makeBlog();
  for (const name of ["one", "two", "three"]) await shop.text(...CREATE, "--name", name);
  assertEquals(await shop.json(...DELETE, "--name", "two", "--yes"), { name: "two" });
  assertMatch(await shop.text(...DELETE, "-n", "three", "-y"), /^The API key "three" is deleted/);
  assertEquals((await shop.rows(...LIST)).map(([name]) => name), ["one"]);
  await shop.refused(1, /no key with that name/, ...DELETE, "--name", "two", "--yes");
  await shop.text(...CREATE, "--name", "two");
});

Deno.test("Nothing that a terminal would obey comes out of names and descriptions.", async () => {
  await using shop = await makeBlog();
  const name = "a\u202egpj";
  const desc = "one\ntwo\u2028three\u{e0001}";
  const outputs = [
    await shop.text(...CREATE, "--name", name, "--desc", desc, "--json"),
    await shop.text(...LIST, "--json"),
    await shop.text(...LIST),
    await shop.text(...DELETE, "--name", name, "--yes"),
    (await shop.run("\x1b[31m\x9b2J")).stderr,
    (await shop.run("access", "on", "shop", "\x1b]0;x\x07")).stderr,
    (await shop.run(...CREATE, "--name", "x", "--outfile", "/missing\x1b[2J/\r")).stderr,
  ];
  for (const text of outputs) {
    assert(text.length > 0);
    assertNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}]/u);
  }
  const { keys } = JSON.parse(outputs[1] ?? "") as { keys: Key[] };
  assertEquals([keys[0]?.name, keys[0]?.description], [name, desc]);
  assertMatch(outputs[2] ?? "", /^a\\u\{202e\}gpj .*one\\ntwo\\u\{2028\}three\\u\{e0001\}$/m);
});

const FORM = /kvdrive app-key create PROJECT APP --name NAME \[--desc TEXT\] \[--outfile FILE\]/;

const REFUSED: readonly { args: string[]; code: number; says: RegExp }[] = [
  {
    args: ["access", "on", "shop"],
    code: 2,
    says: /APP is missing.*kvdrive access on PROJECT APP/,
  },
  { args: ["access", "on", "shop", "wiki"], code: 1, says: /no application "wiki"/ },
  { args: ["access", "off", "unknown", "blog"], code: 1, says: /no project "unknown"/ },
  { args: ["access", "off", "shop", "blog", "now"], code: 2, says: /Too many arguments/ },
  { args: ["app-key", "create", "shop", "blog"], code: 2, says: FORM },
  { args: ["app-key", "create", "shop", "blog", "--name", ""], code: 2, says: FORM },
  { args: ["app-key", "create", "shop", "blog", "--name", " "], code: 2, says: /--name is blank/ },
  {
    args: ["app-key", "create", "shop", "blog", "--name", "x", "--desc", "a\x1bb"],
    code: 2,
    says: /--desc has a control character/,
  },
  {
    args: ["app-key", "create", "shop", "blog", "-n", "x", "--desc", "x".repeat(1025)],
    code: 2,
    says: /--desc has 1025 characters/,
  },
  {
    args: ["app-key", "create", "shop", "wiki", "-n", "x"],
    code: 1,
    says: /no application "wiki"/,
  },
  { args: ["app-key", "revoke", "shop", "blog", "-y"], code: 2, says: /--name is missing/ },
  {
    args: ["app-key", "revoke", "shop", "blog", "-n", "agent"],
    code: 2,
    says: /without a terminal.*--yes/,
  },
  { args: ["app-key", "revoke", "shop", "wiki", "-n", "x", "-y"], code: 1, says: /no application/ },
  { args: ["app-key", "list", "shop", "wiki"], code: 1, says: /no application "wiki"/ },
  { args: ["app-key", "list", "unknown", "blog"], code: 1, says: /no project "unknown"/ },
];

Deno.test("Impossible commands are refused and change nothing.", async () => {
  await using shop = await makeBlog();
  await shop.text(...CREATE, "--name", "agent");
  const before = [await shop.json("app", "list", "shop"), await shop.json(...LIST)];
  for (const { args, code, says } of REFUSED) await shop.refused(code, says, ...args);
  assertEquals([await shop.json("app", "list", "shop"), await shop.json(...LIST)], before);
});

Deno.test("The earlier names of the commands work, and are not shown.", async () => {
  await using shop = await ShopStore.make();
  await shop.text("app", "create", "shop", "blog", "--upstream", "http://127.0.0.1:3000");
  const app = ["shop", "blog"];
  assertEquals(await shop.json("auth", "enable", ...app), { enabled: true });
  const { name } = await shop.json<NewKey>("auth", "create-api-key", ...app, "-n", "agent");
  assertEquals(name, "agent");
  const { keys } = await shop.json<{ keys: Key[] }>("auth", "list-api-keys", ...app);
  assertEquals(keys.map(({ name }) => name), ["agent"]);
  await shop.text("auth", "delete-api-key", ...app, "-n", "agent", "--yes");
  assertEquals(await shop.json("auth", "disable", ...app), { enabled: false });
  assertNotMatch((await shop.run("help")).stdout, /kvdrive auth/);
  await shop.refused(2, /usage: kvdrive access on PROJECT APP/, "auth", "enable");
});
