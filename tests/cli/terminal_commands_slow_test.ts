import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TestServer } from "../support/server.ts";
import { ShopStore } from "../support/store/commands.ts";
import { runOnTerminal } from "../support/terminal.ts";

/** A shop with an application and a key of it. */
async function makeShop(): Promise<ShopStore> {
  const shop = await ShopStore.make();
  await shop.text("app", "create", "shop", "blog", "--upstream", "http://127.0.0.1:3000");
  await shop.text("access", "on", "shop", "blog");
  await shop.text("app-key", "create", "shop", "blog", "--name", "agent");
  return shop;
}

/** All that commands can take away, as the lists show it. */
async function everything(shop: ShopStore): Promise<unknown[]> {
  return [
    await shop.json("project", "list"),
    await shop.json("key", "list", "shop"),
    await shop.json("app", "list", "shop"),
    await shop.json("app-key", "list", "shop", "blog"),
  ];
}

/** Each command that asks, in an order in which all can be done, with its question. */
function questionsOf(shop: ShopStore): { args: string[]; question: RegExp }[] {
  const prefix = shop.key.slice("shop_".length).slice(0, 8);
  return [
    {
      args: ["app-key", "revoke", "shop", "blog", "--name", "agent"],
      question:
        /^Delete the API key "agent" \([A-Za-z0-9]{8}\) of the application blog\? \[y\/N\] /,
    },
    {
      args: ["app", "delete", "shop", "blog"],
      question:
        /^Delete the application blog of the project shop with its [01] API keys?\? \[y\/N\] /,
    },
    {
      args: ["key", "revoke", "shop", prefix],
      question: /^Revoke the key \S+ of the project shop, which has no other key\? \[y\/N\] /,
    },
    {
      args: ["admin-token", "reset"],
      question: /^Replace the administrator's token\? The current one stops working\. \[y\/N\] /,
    },
    {
      args: ["project", "delete", "shop"],
      question: /^Delete the project shop with its 0 drives, 0 files\? \[y\/N\] /,
    },
  ];
}

Deno.test("Any answer but yes changes nothing.", async () => {
  await using shop = await makeShop();
  const before = await everything(shop);
  for (const [index, { args, question }] of questionsOf(shop).entries()) {
    // The last is the end of the input, as a terminal types it.
    const answer = ["\n", "n\n", "no\n", "yesterday\n", "\x04"][index] ?? "";
    const { code, text } = await runOnTerminal([...args, "--data", shop.data], { answer });
    assertMatch(text, question);
    assertMatch(text, /\nkvdrive: Nothing was changed/);
    assertEquals(code, 1, text);
  }
  assertEquals(await everything(shop), before);
});

Deno.test("A command that is confirmed with yes is executed.", async () => {
  await using shop = await makeShop();
  for (const [index, { args, question }] of questionsOf(shop).entries()) {
    // Wherever the line that a terminal gives at once ends.
    const answer = ["y\n", "yes\n", "Y\n", " YES \n", "y\r"][index] ?? "";
    const { code, text } = await runOnTerminal([...args, "--data", shop.data], { answer });
    assertMatch(text, question);
    assertEquals(code, 0, text);
  }
  assertEquals(await shop.json("project", "list"), { projects: [] });
});

Deno.test("With --yes nothing is asked.", async () => {
  await using shop = await makeShop();
  for (const [index, { args }] of questionsOf(shop).entries()) {
    const yes = index % 2 === 0 ? "--yes" : "-y";
    const { code, text } = await runOnTerminal([...args, yes, "--data", shop.data]);
    assertEquals([code, text.includes("[y/N]")], [0, false], text);
  }
});

Deno.test("If input or output is not a terminal, a command that must ask changes nothing.", async () => {
  await using shop = await makeShop();
  const before = await everything(shop);
  const seen = shop.folder.at("seen");
  for (const redirect of [`2>'${seen}'`, `</dev/null 2>'${seen}'`]) {
    const args = ["project", "delete", "shop", "--data", shop.data];
    const { code } = await runOnTerminal(args, { redirect });
    assertEquals(code, 2);
    assertMatch(await Deno.readTextFile(seen), /^kvdrive: .* without a terminal.*--yes/);
  }
  assertEquals(await everything(shop), before);
});

Deno.test("The question stays out of what a program reads.", async () => {
  await using shop = await makeShop();
  const out = shop.folder.at("out");
  const args = ["app", "delete", "shop", "blog", "--json", "--data", shop.data];
  const { code } = await runOnTerminal(args, { answer: "y\n", redirect: `>'${out}'` });
  assertEquals(code, 0);
  assertEquals(await Deno.readTextFile(out), '{"name":"blog"}\n');
});

Deno.test("The question contains how much would be lost.", async () => {
  await using server = await TestServer.start();
  for (const [drive, name] of [["one", "a"], ["one", "b"], ["two", "a"]] as const) {
    const init = { method: "POST", body: "x" };
    const stored = await server.fetch(drive, `/files?name=${name}`, init);
    assertEquals(stored.status, 201, await stored.text());
  }
  const args = ["project", "delete", "test-project", "--data", server.data];
  const { text } = await runOnTerminal(args, { answer: "n\n" });
  assertStringIncludes(text, "Delete the project test-project with its 2 drives, 3 files? [y/N]");
});

Deno.test("A store that would be made is asked for.", async () => {
  await using shop = await ShopStore.make();
  const data = shop.folder.at("new");
  const args = ["admin-token", "reset", "--data", data];
  const { code, text } = await runOnTerminal(args, { answer: "n\n" });
  assertEquals(code, 1);
  assertStringIncludes(text, `Create a new store in ${data}, with an administrator's token? [y/N]`);
  assert(!await shop.folder.has("new"));
});

Deno.test("Headings are bold on a terminal, unless TERM or NO_COLOR says otherwise.", async () => {
  await using shop = await makeShop();
  const args = ["project", "list", "--data", shop.data];
  const isBold = async (env: Record<string, string>) => {
    const { code, text } = await runOnTerminal(args, { env });
    assertEquals(code, 0, text);
    assertStringIncludes(text, "shop");
    return text.includes("\x1b[1mID");
  };
  assertEquals(await isBold({ NO_COLOR: "", TERM: "xterm" }), true);
  assertEquals(await isBold({ NO_COLOR: "1", TERM: "xterm" }), false);
  assertEquals(await isBold({ NO_COLOR: "", TERM: "dumb" }), false);
  const out = shop.folder.at("out");
  await runOnTerminal(args, { env: { NO_COLOR: "", TERM: "xterm" }, redirect: `>'${out}'` });
  assertMatch(await Deno.readTextFile(out), /^ID {4}NAME/);
});
