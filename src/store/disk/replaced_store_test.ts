import { assertEquals } from "@std/assert";
import { setStoreAside, settleReplaced } from "./replaced_store.ts";

/** Runs a test in a folder with a store and its log. */
async function withStore(test: (folder: string, path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/kvdrive.db`, "old");
    await Deno.writeTextFile(`${folder}/kvdrive.db-wal`, "old log");
    await Deno.writeTextFile(`${folder}/new`, "new");
    await test(folder, `${folder}/kvdrive.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The content of the files in a folder, without the times in their names, and how many names each has. */
function contentOf(folder: string): Record<string, string> {
  const files = [...Deno.readDirSync(folder)].map(({ name }) => {
    const path = `${folder}/${name}`;
    const names = Deno.statSync(path).nlink === 1 ? "" : " (two names)";
    return [name.replace(/\d{4}-.*Z/, "TIME"), Deno.readTextFileSync(path) + names] as const;
  });
  return Object.fromEntries(files);
}

const PREVIOUS = { "kvdrive.db": "old", "kvdrive.db-wal": "old log", new: "new" };
const REPLACED = {
  "kvdrive.db": "new",
  "kvdrive.db.replaced-TIME": "old",
  "kvdrive.db.replaced-TIME-wal": "old log",
};

Deno.test("A replaced store is kept with its log, and nothing has two names", async () => {
  await withStore(async (folder, path) => {
    await setStoreAside(path);
    await Deno.rename(`${folder}/new`, path);
    const replaced = await settleReplaced(path);
    assertEquals(contentOf(folder), REPLACED);
    assertEquals(Deno.readTextFileSync(replaced ?? ""), "old");
    assertEquals(await settleReplaced(path), undefined);
    assertEquals(contentOf(folder), REPLACED);
  });
});

Deno.test("A replacement that is interrupted before the new store has its name is undone", async () => {
  await withStore(async (folder, path) => {
    await setStoreAside(path);
    assertEquals(contentOf(folder)["kvdrive.db"], "old (two names)");
    await Promise.all([settleReplaced(path), settleReplaced(path)]);
    assertEquals(contentOf(folder), PREVIOUS);
  });
});

Deno.test("A store that could only be renamed gets its name back", async () => {
  await withStore(async (folder, path) => {
    await setStoreAside(path);
    // As on a file system without hard links.
    await Deno.remove(path);
    assertEquals(await settleReplaced(path), undefined);
    assertEquals(contentOf(folder), PREVIOUS);
  });
});

Deno.test("The log of a store whose file is missing is kept, and given back", async () => {
  await withStore(async (folder, path) => {
    await Deno.remove(path);
    await setStoreAside(path);
    await settleReplaced(path);
    assertEquals(contentOf(folder), { "kvdrive.db-wal": "old log", new: "new" });
    await setStoreAside(path);
    await Deno.rename(`${folder}/new`, path);
    await settleReplaced(path);
    assertEquals(contentOf(folder), {
      "kvdrive.db": "new",
      "kvdrive.db.replaced-TIME-wal": "old log",
    });
  });
});

Deno.test("Stores that are replaced in the same second keep their own names", async () => {
  await withStore(async (folder, path) => {
    for (let i = 0; i < 3; i++) {
      await Deno.writeTextFile(`${folder}/new`, `new ${i}`);
      await setStoreAside(path);
      await Deno.rename(`${folder}/new`, path);
      await settleReplaced(path);
    }
    const kept = [...Deno.readDirSync(folder)].filter(({ name }) =>
      /replaced-[^]*\d$|Z$/.test(name)
    );
    assertEquals(kept.length, 3);
  });
});
