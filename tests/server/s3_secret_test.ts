import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import {
  administer,
  ADMINISTERED,
  type ListedS3Key,
  type NewS3Key,
  PROJECTS,
  S3_SECRET,
  WITH_S3_KEYS,
} from "../support/admin.ts";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { denokvProgram } from "../support/store/denokv.ts";
import { assertErrorAnswer } from "../support/suite.ts";

const PATH = `${PROJECTS}/${PROJECT_ID}/s3-keys`;

/** A shared store has no data folder that counts. */
const isShared = denokvProgram() !== undefined;

async function make(server: TestServer): Promise<NewS3Key> {
  return (await administer(server, "POST", PATH)).expect(201).json as NewS3Key;
}

/** Returns for each S3 key whether the server can use it. */
async function usable(server: TestServer): Promise<boolean[]> {
  const { s3_keys } = (await administer(server, "GET", PATH)).expect(200).json as {
    s3_keys: ListedS3Key[];
  };
  return s3_keys.map(({ usable }) => usable);
}

Deno.test({
  name: "The key file is private, survives a killed server, and its loss is reported once.",
  ignore: isShared,
  async fn() {
    await using folder = await Folder.make();
    const data = folder.at("data");
    const file = `${data}/s3.key`;
    {
      await using server = await TestServer.start({ ...ADMINISTERED, data });
      await make(server);
      await server.stop("SIGKILL");
    }
    if (Deno.build.os !== "windows") {
      assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
      await Deno.chmod(file, 0o644);
    }
    {
      await using server = await TestServer.start({ ...ADMINISTERED, data });
      assertEquals(await usable(server), [true]);
      assertMatch(server.text, /The file \S+s3\.key .*\(mode 644\)\. It is private now/);
      assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
      assertEquals((await server.stop()).code, 0);
    }
    const key = await Deno.readTextFile(file);
    await Deno.remove(file);
    {
      await using server = await TestServer.start({ ...ADMINISTERED, data });
      for (let i = 0; i < 3; i++) assertEquals(await usable(server), [false]);
      const reports = server.text.match(/S3 keys cannot be used: the file s3\.key .* not exist/g);
      assertEquals(reports?.length, 1, server.text);
      await make(server);
      assertEquals(await usable(server), [false, true]);
      assertEquals((await server.stop()).code, 0);
    }
    await Deno.writeTextFile(file, key.slice(0, 20));
    await using server = await TestServer.start({ ...ADMINISTERED, data });
    assertMatch(server.text, /S3 keys cannot be used: the file s3\.key .* is damaged/);
    const refused = (await administer(server, "POST", PATH)).expect(409);
    assertErrorAnswer(refused);
    assertMatch(refused.text, /the file s3\.key in the server's data folder is damaged/);
    await Deno.writeTextFile(file, key);
    await make(server);
    assertEquals(await usable(server), [true, false, true]);
    assert(!server.text.includes(key.trim().slice(0, 20)), "the log has the secret");
  },
});

Deno.test("A secret from the environment or a file encrypts S3 keys, and no file is created.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  await folder.write("secret", `${S3_SECRET}\n`);
  if (Deno.build.os !== "windows") await Deno.chmod(folder.at("secret"), 0o640);
  {
    await using server = await TestServer.start({ ...WITH_S3_KEYS, data });
    await make(server);
    await server.stop();
  }
  const args = ["--s3-secret-file", folder.at("secret")];
  await using server = await TestServer.start({ ...ADMINISTERED, data, args });
  await make(server);
  if (!isShared) assertEquals(await usable(server), [true, true]);
  if (Deno.build.os !== "windows") {
    assertMatch(server.text, /The file \S+secret .*\(mode 640\)\. Close it with chmod/);
  }
  const names = [...Deno.readDirSync(data)].map(({ name }) => name);
  assert(!names.includes("s3.key"), names.join());
});

Deno.test("An invalid secret ends the start, and no message repeats it.", async () => {
  await using folder = await Folder.make();
  const serve = ["serve", "--port", "0", "--data", folder.at("data")];
  for (const text of ["short", S3_SECRET.slice(1), `${S3_SECRET}x`, "é".repeat(44)]) {
    const result = await runCommand(serve, { KVDRIVE_S3_SECRET: text });
    assertRefused(result, 2, /KVDRIVE_S3_SECRET: it must be 32 bytes in base64.*openssl rand/);
    assert(!result.stderr.includes(text), result.stderr);
    await folder.write("secret", text);
    const given = await runCommand([...serve, "--s3-secret-file", folder.at("secret")]);
    assertRefused(given, 2, /--s3-secret-file is damaged: it must have 32 bytes in base64/);
    assert(!given.stderr.includes(text), given.stderr);
  }
  const absent = [...serve, "--s3-secret-file", folder.at("absent")];
  assertRefused(await runCommand(absent), 2, /--s3-secret-file does not exist .*absent/);
  const env = { KVDRIVE_S3_SECRET: S3_SECRET };
  const both = [...serve, "--s3-secret-file", folder.at("secret")];
  assertRefused(await runCommand(both, env), 2, /exclude each other/);
});

Deno.test({
  name: "Backups say that the secret of S3 keys is not in them, and restores that it is missing.",
  ignore: isShared,
  async fn() {
    await using folder = await Folder.make();
    const [data, other] = [folder.at("data"), folder.at("other")];
    const [source, target] = [new StoreCommands(data), new StoreCommands(other)];
    const plain = ["project", "create", "--id", "shop", "--data", data];
    assertEquals((await runCommand(plain)).code, 0);
    const file = folder.at("copy.db");
    assertNotMatch(await source.text("backup", file), /S3/);
    for (let i = 0; i < 2; i++) await source.text("s3-key", "create", "shop");
    assertMatch(
      await source.text("backup", file, "--force"),
      /It has 2 S3 keys with encrypted secrets, but not the file s3\.key in the .* another place\.\n$/,
    );
    const key = (await Deno.readTextFile(`${data}/s3.key`)).trim();
    const bytes = new TextDecoder("latin1").decode(await Deno.readFile(file));
    assert(!bytes.includes(key) && !bytes.includes(atob(key)), "The secret is in the backup");
    assertNotMatch(await source.text("verify"), /S3/);
    const missing =
      /S3 keys cannot be used: the file s3\.key .* does not exist.* 2 of 2 S3 keys\.\n/;
    assertMatch(await target.text("restore", file), missing);
    assertMatch(await target.text("verify"), missing);
    const found = await target.json<{ s3_keys: unknown }>("restore", file, "--force");
    const { s3_keys } = found as { s3_keys: { total: number; unusable: number } };
    assertEquals([s3_keys.total, s3_keys.unusable], [2, 2]);
    await Deno.writeTextFile(`${other}/s3.key`, btoa("0".repeat(32)));
    assertMatch(await target.text("verify"), /another secret.* 2 of 2 S3 keys/);
    await Deno.copyFile(`${data}/s3.key`, `${other}/s3.key`);
    assertMatch(await target.text("verify"), /^No problems found: .*\n$/);
    assertNotMatch(await target.text("restore", file, "--force"), /S3/);
  },
});
