import { assertEquals, assertRejects } from "@std/assert";
import { chosenFiles, filesOf } from "./dropped_files.js";

/** Batch size of a folder's entries, as in Chromium. */
const BATCH = 100;

type Tree = { [name: string]: Tree | string };

function entryOf(name: string, content: Tree | string, parent = ""): FileSystemEntry {
  const fullPath = `${parent}/${name}`;
  if (typeof content === "string") {
    const file = (done: (file: File) => void) => done(new File([content], name));
    return { isFile: true, isDirectory: false, name, fullPath, file } as unknown as FileSystemEntry;
  }
  const createReader = () => {
    const left = Object.entries(content).map(([name, inner]) => entryOf(name, inner, fullPath));
    return {
      readEntries: (done: (entries: FileSystemEntry[]) => void) => done(left.splice(0, BATCH)),
    };
  };
  return {
    isFile: false,
    isDirectory: true,
    name,
    fullPath,
    createReader,
  } as unknown as FileSystemEntry;
}

async function paths(entries: (FileSystemEntry | File)[]): Promise<string[]> {
  return (await filesOf(entries)).map(({ path }) => path);
}

Deno.test("Files and folders are traversed in order", async () => {
  const album = entryOf("album", { "a.txt": "a", empty: {}, sub: { deep: { "b.txt": "b" } } });
  const loose = new File(["x"], "loose.txt");
  assertEquals(await paths([album, loose, entryOf("z.txt", "z")]), [
    "album/a.txt",
    "album/sub/deep/b.txt",
    "loose.txt",
    "z.txt",
  ]);
});

Deno.test("A folder of more files than one batch is read completely", async () => {
  const tree = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`${index}`, "x"]));
  const counts: number[] = [];
  await filesOf([entryOf("many", tree)], (count) => counts.push(count));
  assertEquals(counts.at(-1), 250);
});

Deno.test("An unreadable entry is an error", async () => {
  const broken = entryOf("x", {});
  const failing = {
    ...broken,
    createReader: () => ({
      readEntries: (_: unknown, fail: (error: Error) => void) => fail(new Error("No")),
    }),
  };
  await assertRejects(() => filesOf([failing as unknown as FileSystemEntry]), Error, "No");
});

Deno.test("Files of a chosen folder have relative paths", () => {
  const inFolder = Object.assign(new File([], "b.txt"), { webkitRelativePath: "a/b.txt" });
  assertEquals(chosenFiles([inFolder, new File([], "c.txt")]).map(({ path }) => path), [
    "a/b.txt",
    "c.txt",
  ]);
});
