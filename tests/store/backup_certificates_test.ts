import { assert, assertEquals } from "@std/assert";
import { TestAuthority } from "../support/acme/authority.ts";
import { HttpsServer } from "../support/acme/https_server.ts";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";

const NAME = "files.example.com";

Deno.test("A backup has the certificates and the account, and a restore brings them back", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const file = folder.at("copy.db");
  let serial: string;
  {
    await using server = await HttpsServer.start({
      authority,
      domains: [NAME],
      data: folder.at("data"),
    });
    ({ serial } = await server.untilCertificate(NAME));
    await server.until(() => /renewal at/.test(server.text), "the certificate is stored");
    await new StoreCommands(folder.at("data")).text("backup", file);
  }
  const { mode } = await Deno.stat(file);
  if (Deno.build.os !== "windows") assertEquals((mode ?? 0) & 0o777, 0o600);
  const data = folder.at("restored");
  const commands = new StoreCommands(data);
  await commands.text("restore", file);
  await commands.text("verify");
  for (const name of ["account.json", `${NAME}.pem`]) {
    const found = await Deno.stat(`${data}/tls/${name}`);
    if (Deno.build.os !== "windows") assertEquals((found.mode ?? 0) & 0o777, 0o600, name);
  }
  await using server = await HttpsServer.start({ authority, domains: [NAME], data });
  assertEquals((await server.untilCertificate(NAME)).serial, serial);
  assertEquals([authority.orders.length, authority.accounts.length], [1, 1]);
});

Deno.test("A restore keeps certificates that are there, and the store has none of a backup", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  assertEquals((await new StoreCommands(data).run("project", "create")).code, 0);
  await Deno.mkdir(`${data}/tls`);
  const write = (name: string, text: string) => Deno.writeTextFile(`${data}/tls/${name}`, text);
  const read = (name: string) => Deno.readTextFile(`${data}/tls/${name}`);
  const names = ["account.json", "a.example.com.pem", "b.example.com.pem", "lock", "pauses.json"];
  for (const name of names) await write(name, "backed up");
  const file = folder.at("copy.db");
  const commands = new StoreCommands(data);
  await commands.text("backup", file);
  await write("a.example.com.pem", "newer");
  for (const name of ["b.example.com.pem", "lock", "pauses.json"]) {
    await Deno.remove(`${data}/tls/${name}`);
  }
  await commands.text("restore", file, "--force");
  assertEquals(await read("a.example.com.pem"), "newer");
  assertEquals(await read("b.example.com.pem"), "backed up");
  assertEquals([...Deno.readDirSync(`${data}/tls`)].length, 3);
  const store = new TextDecoder("latin1").decode(await Deno.readFile(`${data}/kvdrive.db`));
  assert(!store.includes("kvdrive_kept_file"), "The table of the backup is in the store");
  await using server = await TestServer.start({ data });
  assertEquals((await fetch(`${server.origin}/readyz`)).status, 200);
  await server.stop();
  // A backup of the restored store is complete again.
  await commands.text("backup", file, "--force");
});
