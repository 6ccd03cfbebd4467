import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { withFolder } from "../testing/stores.ts";
import { Backup } from "./backup.ts";
import { databasePath } from "../disk/store_files.ts";
import { openDatabase } from "../engine/database_file.ts";
import { CannotBackUp } from "../engine/errors.ts";

Deno.test("a backup that would use the reserve of the disk is refused and leaves no file", async () => {
  await withFolder(async (folder) => {
    const source = databasePath(folder);
    await (await openDatabase(folder)).close();
    const before = await namesIn(folder);
    const backup = new Backup({ source, target: join(folder, "copy.db"), reserve: 1e18 });
    await assertRejects(() => backup.run(), CannotBackUp, "must stay free");
    assertEquals(await namesIn(folder), before);
  });
});

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}
