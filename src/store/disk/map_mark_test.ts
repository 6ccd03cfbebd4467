import { assert, assertEquals } from "@std/assert";
import { withFolder } from "../testing/stores.ts";
import { MapMark } from "./map_mark.ts";

async function marksIn(folder: string): Promise<number> {
  return (await Array.fromAsync(Deno.readDir(folder))).length;
}

Deno.test("Several processes mark a store, and each removes its mark at its end", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/store.db`;
    const first = await MapMark.take(path);
    const second = await MapMark.take(path);
    assert(first instanceof MapMark && second instanceof MapMark);
    assertEquals(await marksIn(folder), 2);
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    assertEquals(await marksIn(folder), 0);
  });
});

Deno.test("Where no mark can be made the store is opened without a map, and a mark may be gone", async () => {
  await withFolder(async (folder) => {
    assertEquals(await MapMark.take(`${folder}/absent/store.db`), "unsupported");
    const mark = await MapMark.take(`${folder}/store.db`);
    assert(mark instanceof MapMark);
    for await (const { name } of Deno.readDir(folder)) await Deno.remove(`${folder}/${name}`);
    mark[Symbol.dispose]();
  });
});

Deno.test("A mark without a process is found once, beside one that is in use", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/store.db`;
    await Deno.writeTextFile(`${path}-mapped-left`, "");
    await Deno.writeTextFile(`${folder}/other.db-mapped-left`, "");
    assertEquals(await MapMark.take(path), "abandoned");
    const mark = await MapMark.take(path);
    assert(mark instanceof MapMark);
    await Deno.writeTextFile(`${path}-mapped-left`, "");
    assertEquals(await MapMark.take(path), "abandoned");
    mark[Symbol.dispose]();
    assertEquals(await marksIn(folder), 1);
  });
});
