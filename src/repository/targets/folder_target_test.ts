import { assertEquals, assertRejects } from "@std/assert";
import { RepositoryError } from "../errors.ts";
import { FolderTarget } from "./folder_target.ts";
import { MAX_OBJECT } from "./target.ts";

Deno.test("nothing is put into a folder that was removed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const target = new FolderTarget(`${folder}/a/b`);
    await target.prepare();
    await target.put("data/1", Uint8Array.of(1));
    assertEquals(await target.get("data/1"), Uint8Array.of(1));
    await Deno.remove(`${folder}/a`, { recursive: true });
    await assertRejects(() => target.put("data/2", Uint8Array.of(2)), RepositoryError, "Cannot");
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a file that is too large for an object takes no more memory than one", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const target = new FolderTarget(folder);
    await target.put("data/1", Uint8Array.of(1));
    await Deno.truncate(`${folder}/data/1`, 2 ** 40);
    assertEquals((await target.get("data/1"))?.byteLength, MAX_OBJECT);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
