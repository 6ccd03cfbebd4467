import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ADMIN_TOKEN, ADMINISTERED, type NewS3Key, Project } from "../support/admin.ts";
import { Folder, runCommand } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { ShopStore, StoreCommands } from "../support/store/commands.ts";
import { denokvProgram } from "../support/store/denokv.ts";

interface Keys {
  s3_keys: { access_key_id: string; name: string | null; created: string; usable: boolean }[];
}

Deno.test("An S3 key is created, shown once, listed by its id, and revoked.", async () => {
  await using shop = await ShopStore.make();
  assertEquals(await shop.text("s3-key", "list", "shop"), "The project shop has no S3 keys.\n");
  const text = await shop.text("s3-key", "create", "shop");
  const shown = /^Access key id: {6}(KV[A-Z0-9]{18})\nSecret access key: {2}([A-Za-z0-9]{40})\n\n/;
  assertMatch(text, shown);
  assertStringIncludes(text, "The secret is shown only once");
  const args = ["--name", "backup", "--drives", "a,b", "--permissions", "read", "--prefix", "in/"];
  const made = await shop.json<NewS3Key>("s3-key", "create", "shop", ...args);
  assertEquals([made.drives, made.permissions, made.prefix], [["a", "b"], ["read"], "in/"]);
  const { s3_keys } = await shop.json<Keys>("s3-key", "list", "shop");
  const { secret_access_key, ...listed } = made;
  assertEquals(s3_keys[1], listed);
  const id = made.access_key_id;
  const table = await shop.text("s3-key", "list", "shop");
  assertStringIncludes(table, `\n${id}  backup  ${made.created}  read `);
  assertMatch(table, / {2}yes\n$/);
  assert(!table.includes(secret_access_key));
  const revoked = await shop.json("s3-key", "revoke", "shop", id, "--yes");
  assertEquals(revoked, { access_key_id: id });
  assertMatch(
    await shop.text("s3-key", "revoke", "shop", shown.exec(text)?.[1] ?? "", "-y"),
    /revoked.*5 seconds/,
  );
  assertEquals((await shop.json<Keys>("s3-key", "list", "shop")).s3_keys, []);
});

const REFUSED: readonly { args: string[]; code: number; says: RegExp }[] = [
  { args: ["create"], code: 2, says: /PROJECT is missing.*kvdrive s3-key create PROJECT/ },
  { args: ["create", "unknown"], code: 1, says: /no project "unknown"/ },
  { args: ["create", "shop", "--name", " "], code: 2, says: /--name is blank/ },
  { args: ["create", "shop", "--prefix", ""], code: 2, says: /--prefix needs a value/ },
  { args: ["create", "shop", "--permissions", "all"], code: 2, says: /--permissions is "all"/ },
  { args: ["create", "shop", "--expires-in", "soon"], code: 2, says: /--expires-in/ },
  { args: ["list", "unknown"], code: 1, says: /no project "unknown"/ },
  { args: ["revoke", "shop", "abc", "-y"], code: 2, says: /ACCESS-KEY-ID must be the 20 char/ },
  { args: ["revoke", "shop", "KV".padEnd(20, "A"), "-y"], code: 1, says: /no S3 key KVA{18}:/ },
  { args: ["revoke", "shop", "KV".padEnd(20, "A")], code: 2, says: /without a terminal.*--yes/ },
];

Deno.test("Impossible commands for S3 keys are refused and repeat no secret.", async () => {
  await using shop = await ShopStore.make();
  for (const { args, code, says } of REFUSED) await shop.refused(code, says, "s3-key", ...args);
  const { secret_access_key } = await shop.json<NewS3Key>("s3-key", "create", "shop");
  const { stderr } = await shop.run("s3-key", "revoke", "shop", secret_access_key, "--yes");
  assert(!stderr.includes(secret_access_key), stderr);
  assertEquals((await shop.json<Keys>("s3-key", "list", "shop")).s3_keys.length, 1);
});

Deno.test("The same commands work over the API of a server.", async () => {
  await using server = await TestServer.start({
    env: { ...ADMINISTERED.env, KVDRIVE_S3_SECRET: btoa("0".repeat(32)) },
  });
  const project = await Project.make(server);
  const run = async (...args: string[]) => {
    const env = { KVDRIVE_URL: server.origin, KVDRIVE_KEY: ADMIN_TOKEN };
    const { code, stdout, stderr } = await runCommand(["s3-key", ...args, "--json"], env);
    assertEquals([code, stderr], [0, ""]);
    return JSON.parse(stdout) as Keys & NewS3Key;
  };
  const made = await run("create", project.id, "--name", "remote");
  assertEquals((await project.s3Keys()).map(({ name }) => name), ["remote"]);
  const { s3_keys } = await run("list", project.id);
  assertEquals(s3_keys.map(({ access_key_id }) => access_key_id), [made.access_key_id]);
  await run("revoke", project.id, made.access_key_id, "--yes");
  assertEquals(await project.s3Keys(), []);
});

Deno.test({
  name: "Commands use the secret in the file of --s3-secret-file, and s3.key is not created.",
  // A shared store has no folder.
  ignore: denokvProgram() !== undefined,
  async fn() {
    await using shop = await ShopStore.make();
    const { folder, data } = shop;
    const file = await folder.write("elsewhere", `${btoa("1".repeat(32))}\n`);
    const given = ["--s3-secret-file", file];
    await shop.text("s3-key", "create", "shop", ...given);
    assert(!await folder.has("data/s3.key"));
    const usable = async (...args: string[]) => {
      const { stdout } = await shop.run("s3-key", "list", "shop", "--json", ...args);
      return (JSON.parse(stdout) as Keys).s3_keys.map((key) => key.usable);
    };
    assertEquals([await usable(...given), await usable()], [[true], [false]]);
    const copy = folder.at("copy.db");
    assertStringIncludes(
      await shop.text("backup", copy, ...given),
      "but not the file of --s3-secret-file, without which",
    );
    assertMatch((await shop.run("verify")).stdout, /1 of 1 S3 key/);
    assert(!(await shop.text("verify", ...given)).includes("S3 keys cannot be used"));
    const restored = new StoreCommands(folder.at("restored"));
    assert(!(await restored.text("restore", copy, ...given)).includes("S3 keys cannot be used"));
    const both = await runCommand(["verify", "--data", data, ...given], {
      KVDRIVE_S3_SECRET: btoa("1".repeat(32)),
    });
    assertMatch(both.stderr, /KVDRIVE_S3_SECRET and --s3-secret-file exclude each other/);
  },
});

Deno.test({
  name: "A server and commands that create the first S3 keys at once use one key file.",
  // A shared store has no folder.
  ignore: denokvProgram() !== undefined,
  async fn() {
    await using folder = await Folder.make();
    const data = folder.at("data");
    await using server = await TestServer.start({ ...ADMINISTERED, data });
    const project = await Project.make(server);
    const commands = new StoreCommands(data);
    await Promise.all([
      ...Array.from({ length: 4 }, () => commands.text("s3-key", "create", project.id)),
      ...Array.from({ length: 4 }, () => project.makeS3Key()),
    ]);
    const { s3_keys } = await commands.json<Keys>("s3-key", "list", project.id);
    for (const listed of [await project.s3Keys(), s3_keys]) {
      assertEquals(listed.map(({ usable }) => usable), Array.from({ length: 8 }, () => true));
    }
  },
});
