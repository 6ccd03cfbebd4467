import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { assertSameBytes, patternBytes } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { LaunchedServer } from "../support/launch.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { Denokv, DENOKV_TOKEN } from "../support/store/denokv.ts";
import { SharedStore, StoreLink } from "./support.ts";
import { unusedPort } from "../support/processes/ports.ts";

const TOKEN = { DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN };

/** An address without a listener. */
const nowhere = (): string => `http://127.0.0.1:${unusedPort()}`;

Deno.test("A start reports a wrong address or token of the store at once.", async () => {
  await using shared = await SharedStore.start();
  const serve = ["serve", "--port", "0", "--kv"];
  const { url } = shared.denokv;
  const wrong = { DENO_KV_ACCESS_TOKEN: "not-the-token-of-this-store" };
  const refused = await runCommand([...serve, url], wrong);
  assertRefused(refused, 1, /it refuses the access token in DENO_KV_ACCESS_TOKEN/);
  assert(!refused.stderr.includes(wrong.DENO_KV_ACCESS_TOKEN));
  assertRefused(
    await runCommand([...serve, url]),
    1,
    /its access token is missing, set DENO_KV_ACCESS_TOKEN/,
  );
  assertRefused(await runCommand([...serve, "./data"], TOKEN), 2, /Bad value of --kv/);
  assertRefused(await runCommand(["project", "list", "--kv", "x"], TOKEN), 2, /Bad value of --kv/);
});

Deno.test("A command reports an unreachable store at once, and a start after its timeout.", async () => {
  for (const args of [["project", "list"], ["serve", "--port", "0"]]) {
    const run = await runCommand([...args, "--kv", nowhere()], TOKEN);
    assertRefused(
      run,
      1,
      /Cannot open the store at http:\/\/127\.0\.0\.1:\d+: .*failed to connect/,
    );
  }
});

Deno.test("A server that is started before its store waits for it.", async () => {
  await using folder = await Folder.make();
  const url = nowhere();
  const starting = LaunchedServer.start(["serve", "--port", "0", "--kv", url], TOKEN);
  await using denokv = await Denokv.start(folder.at("late.db"), Number(new URL(url).port));
  await using server = await starting;
  assertEquals((await fetch(`${server.origin}/`)).status, 200);
  assert(denokv.url === url);
});

Deno.test("A server shuts down in time during an outage of its store.", async () => {
  await using shared = await SharedStore.start();
  await using link = new StoreLink(shared.denokv.port);
  await using server = await LaunchedServer.start(
    ["serve", "--port", "0", "--kv", link.url],
    TOKEN,
  );
  link.state = "silent";
  assertEquals((await server.stop()).code, 0);
});

Deno.test("Commands work on the store that --kv or KVDRIVE_KV names.", async () => {
  await using shared = await SharedStore.start();
  const { url } = shared.denokv;
  const made = await runCommand(["project", "create", "--id", "shop", "--kv", url], TOKEN);
  assertEquals([made.code, made.stderr], [0, ""]);
  const env = { ...TOKEN, KVDRIVE_KV: url };
  for (const args of [["key", "create", "shop"], ["admin-token", "reset", "--yes"]]) {
    assertEquals((await runCommand(args, env)).code, 0, args.join(" "));
  }
  assertMatch((await runCommand(["project", "list", "--json"], env)).stdout, /"shop"/);
  // A folder on the command line wins over the variable.
  const folder = shared.folder.at("none");
  assertRefused(await runCommand(["project", "list", "--data", folder], env), 1, /no store in/);
  await using server = await LaunchedServer.start(["serve", "--port", "0"], env);
  const key = /\bshop_[A-Za-z0-9]+/.exec(made.stdout)?.[0] ?? "";
  const answer = await fetch(`${server.origin}/v1/shop`, { headers: { "X-Api-Key": key } });
  assertEquals(await answer.json(), { project_id: "shop", drives: [] });
});

Deno.test("A shared store is checked and backed up from its file, while servers use it.", async () => {
  await using shared = await SharedStore.start();
  await using server = await shared.serve();
  const drive = new Drive(server, "photos");
  await drive.put("a", patternBytes(300_000));
  (await drive.send("POST", "/files/copy", { body: '{"from": "a", "to": "b"}' })).expect(201);
  const commands = new StoreCommands(shared.folder.path);
  assertEquals(await commands.text("verify"), "No problems found: 2 files, 600000 bytes.\n");
  await commands.text("backup", shared.folder.at("backup.db"));
  const restored = shared.folder.at("restored");
  const restore = ["restore", shared.folder.at("backup.db"), "--data", restored];
  assertEquals((await runCommand(restore)).code, 0);
  await using alone = await LaunchedServer.start(["serve", "--port", "0", "--data", restored]);
  const headers = { "X-Api-Key": PROJECT_KEY };
  const path = `/v1/${PROJECT_ID}/photos/files/download?name=b`;
  const answer = await fetch(alone.origin + path, { headers });
  assertSameBytes(await answer.bytes(), patternBytes(300_000));
});

Deno.test("A store in a folder is shared by serving a backup of it, and its file alone is refused.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const shared = folder.at("shared");
  const { stdout } = await runCommand(["project", "create", "--id", "shop", "--data", data]);
  const key = /\bshop_[A-Za-z0-9]+/.exec(stdout)?.[0] ?? "";
  const headers = { "X-Api-Key": key };
  const put = async (origin: string, name: string, body: Uint8Array<ArrayBuffer>) => {
    const url = `${origin}/v1/shop/photos/files?name=${name}`;
    const answer = await fetch(url, { method: "POST", headers, body });
    assertEquals(answer.status, 201, await answer.text());
  };
  const assertFile = async (origin: string, name: string, body: Uint8Array<ArrayBuffer>) => {
    const url = `${origin}/v1/shop/photos/files/download?name=${name}`;
    assertSameBytes(await (await fetch(url, { headers })).bytes(), body, name);
  };
  const [before, after] = [patternBytes(300_000, 1), patternBytes(300_000, 2)];
  {
    await using alone = await LaunchedServer.start(["serve", "--port", "0", "--data", data]);
    await put(alone.origin, "before", before);
  }
  {
    await using denokv = await Denokv.start(`${data}/kvdrive.db`);
    const run = await runCommand(["serve", "--port", "0", "--kv", denokv.url], TOKEN);
    assertRefused(run, 1, /has the records of a store in a folder.*make a backup of that store/);
  }
  await Deno.mkdir(shared);
  await new StoreCommands(data).text("backup", `${shared}/kvdrive.db`);
  {
    await using denokv = await Denokv.start(`${shared}/kvdrive.db`);
    const serve = ["serve", "--port", "0", "--kv", denokv.url];
    await using server = await LaunchedServer.start(serve, TOKEN);
    await assertFile(server.origin, "before", before);
    await put(server.origin, "after", after);
    await assertFile(server.origin, "after", after);
    assertMatch(await new StoreCommands(shared).text("verify"), /^No problems found: 2 files/);
  }
  await using again = await LaunchedServer.start(["serve", "--port", "0", "--data", shared]);
  await assertFile(again.origin, "before", before);
  await assertFile(again.origin, "after", after);
  assertMatch(again.text, /All bytes of files have moved/);
});
