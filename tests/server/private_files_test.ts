import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";

async function modesIn(path: string): Promise<Record<string, string>> {
  const modes: Record<string, string> = {};
  for await (const { name } of Deno.readDir(path)) {
    try {
      modes[name] = (((await Deno.stat(`${path}/${name}`)).mode ?? 0) & 0o777).toString(8);
    } catch (error) {
      // A backup that was being made has its own name now.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return modes;
}

Deno.test("In a folder that other users can read the store's files are private, and the operator is warned.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const backups = folder.at("backups");
  await Deno.mkdir(data);
  await Deno.mkdir(backups);
  await Deno.chmod(data, 0o755);
  const args = ["--backup-dir", backups, "--every", "1h"];
  {
    await using server = await TestServer.start({ data, args });
    await new Drive(server, "d").put("a", "a");
    assertMatch(
      server.text,
      /The data folder \S+ is open to other users of this machine \(mode 755\).*chmod 700/,
    );
    const modes = await modesIn(data);
    assert("kvdrive.db-wal" in modes && "kvdrive.db-shm" in modes);
    assertEquals(new Set(Object.values(modes)), new Set(["600"]), JSON.stringify(modes));
    assertEquals((await server.stop()).code, 0);
  }
  assertEquals(((await Deno.stat(data)).mode ?? 0) & 0o777, 0o755);
  await Deno.chmod(`${data}/kvdrive.db`, 0o644);
  await Deno.chmod(data, 0o700);
  await folder.write("backups/kvdrive-2026-01-01T00-00-00Z.db", "SQLite format 3\0");
  await Deno.chmod(folder.at("backups/kvdrive-2026-01-01T00-00-00Z.db"), 0o644);
  await using server = await TestServer.start({ data, args });
  for (const path of [data, backups]) {
    const modes = await modesIn(path);
    assertEquals(new Set(Object.values(modes)), new Set(["600"]), JSON.stringify(modes));
  }
  assertNotMatch(server.text, /is open to other users/);
});
