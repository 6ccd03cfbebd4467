import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { ShopStore, StoreCommands, TIME } from "../support/store/commands.ts";

interface App {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

const UPSTREAM = ["--upstream", "http://127.0.0.1:3000"];

Deno.test("An application is made with its upstream, and with a host name in lower case.", async () => {
  await using shop = await ShopStore.make();
  const args = ["app", "create", "shop", "blog", ...UPSTREAM, "--host", "Blog.Example.com"];
  const app = await shop.json<App>(...args);
  const { created, ...rest } = app;
  assertMatch(created, TIME);
  assertEquals(rest, {
    name: "blog",
    project_id: "shop",
    upstream: "http://127.0.0.1:3000",
    host: "blog.example.com",
    access: { enabled: false },
  });
  const text = await shop.text("app", "create", "shop", "wiki", ...UPSTREAM);
  assertStringIncludes(text, "kvdrive access on shop wiki");
  const inner = await shop.json<App>("app", "create", "shop", "inner", ...UPSTREAM, "--protect");
  assertEquals(inner.access, { enabled: true });
  await shop.text("app", "delete", "shop", "inner", "-y");
  const wiki = ["wiki", "off", "http://127.0.0.1:3000", "-"];
  const rows = await shop.rows("app", "list", "shop");
  assertEquals(rows[0], ["blog", "off", "http://127.0.0.1:3000", "blog.example.com", created]);
  assertEquals(rows[1]?.slice(0, 4), wiki);
});

Deno.test("The applications are listed as a running server lists them.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const list = ["app", "list", PROJECT_ID];
  assertMatch(await commands.text(...list), /^The project .* has no applications\.\n$/);
  assertEquals(await commands.json(...list), { apps: [] });
  await commands.text("app", "create", PROJECT_ID, "wiki", ...UPSTREAM);
  await commands.text("app", "create", PROJECT_ID, "blog", ...UPSTREAM, "--host", "a.example");
  await commands.text("access", "on", PROJECT_ID, "blog");
  const url = `${server.origin}/admin/v1/projects/${PROJECT_ID}/apps`;
  const answer = await fetch(url, { headers: { "X-Api-Key": PROJECT_KEY } });
  const listed = await commands.json<{ apps: App[] }>(...list);
  // Where its gate is only the server knows.
  assertEquals(await answer.json(), { ...listed, gate: null });
  assertEquals(listed.apps.map(({ name, access }) => [name, access.enabled]), [
    ["blog", true],
    ["wiki", false],
  ]);
});

Deno.test("A deleted application frees its name and its host name, and takes its keys along.", async () => {
  await using shop = await ShopStore.make();
  const create = ["app", "create", "shop", "blog", ...UPSTREAM, "--host", "a.example"];
  await shop.text(...create);
  await shop.text("access", "on", "shop", "blog");
  await shop.text("app-key", "create", "shop", "blog", "--name", "agent");
  assertEquals(await shop.json("app", "delete", "shop", "blog", "--yes"), { name: "blog" });
  await shop.refused(1, /no application "blog"/, "app-key", "list", "shop", "blog");
  await shop.text(...create);
  assertEquals(await shop.json("app-key", "list", "shop", "blog"), { keys: [] });
  const text = await shop.text("app", "delete", "shop", "blog", "-y");
  assertMatch(text, /^The application blog is deleted\. .*5 seconds\.\n$/);
});

const REFUSED: readonly { args: string[]; code: number; says: RegExp }[] = [
  {
    args: ["create", "shop", "wiki"],
    code: 2,
    says: /--upstream is missing.*kvdrive app create PROJECT NAME --upstream URL \[--host HOST\]/,
  },
  { args: ["create", "shop", ...UPSTREAM], code: 2, says: /NAME is missing/ },
  { args: ["create", "shop", ".wiki", ...UPSTREAM], code: 2, says: /NAME must be/ },
  { args: ["create", "shop", "a/b", ...UPSTREAM], code: 2, says: /NAME must be/ },
  {
    args: ["create", "shop", "wiki", "--upstream", "http://me:swordfish@127.0.0.1"],
    code: 2,
    says: /^(?!.*swordfish).*--upstream must be like/,
  },
  { args: ["create", "shop", "wiki", "--upstream", "ftp://a"], code: 2, says: /--upstream must/ },
  {
    args: ["create", "shop", "wiki", ...UPSTREAM, "--host", "a.example:80"],
    code: 1,
    says: /"host" must be a host name/,
  },
  {
    args: ["create", "shop", "wiki", ...UPSTREAM, "--host", "co.uk"],
    code: 1,
    says: /"host" is a public suffix/,
  },
  {
    args: ["create", "shop", "wiki", ...UPSTREAM, "--host", "LOCALHOST"],
    code: 1,
    says: /"host" is a name of this server/,
  },
  {
    args: ["create", "shop", "blog", ...UPSTREAM],
    code: 1,
    says: /"blog" in this project already/,
  },
  {
    args: ["create", "shop", "wiki", ...UPSTREAM, "--host", "A.example"],
    code: 1,
    says: /"a\.example" already/,
  },
  { args: ["create", "unknown", "wiki", ...UPSTREAM], code: 1, says: /no project "unknown"/ },
  { args: ["list"], code: 2, says: /PROJECT is missing.*kvdrive app list PROJECT/ },
  { args: ["list", "unknown"], code: 1, says: /no project "unknown"/ },
  { args: ["delete", "shop", "blog"], code: 2, says: /without a terminal.*--yes/ },
  { args: ["delete", "shop", "wiki", "-y"], code: 1, says: /no application "wiki"/ },
  { args: ["delete", "shop", "x".repeat(3000), "-y"], code: 1, says: /no application/ },
  { args: ["delete", "unknown", "blog", "-y"], code: 1, says: /no project "unknown"/ },
];

Deno.test("Impossible commands are refused and change nothing.", async () => {
  await using shop = await ShopStore.make();
  await shop.text("app", "create", "shop", "blog", ...UPSTREAM, "--host", "a.example");
  const before = await shop.json("app", "list", "shop");
  for (const { args, code, says } of REFUSED) await shop.refused(code, says, "app", ...args);
  assertEquals(await shop.json("app", "list", "shop"), before);
});
