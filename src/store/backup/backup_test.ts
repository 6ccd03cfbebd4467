import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { withFolder } from "../testing/stores.ts";
import { Backup } from "./backup.ts";
import { CannotBackUp } from "../engine/errors.ts";

Deno.test("a backup that would use the reserve of the disk is refused and leaves no file", async () => {
  await withFolder(async (folder) => {
    const source = join(folder, "kvdrive.db");
    await Deno.writeFile(source, new Uint8Array(10));
    const backup = new Backup({ source, target: join(folder, "copy.db"), reserve: 1e18 });
    await assertRejects(() => backup.run(), CannotBackUp, "must stay free");
    const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
    assertEquals(names, ["kvdrive.db"]);
  });
});
