import { assertEquals, assertRejects } from "@std/assert";
import { chosenFiles, filesIn, pastedFiles } from "./chosen_files.ts";

/** Entries that a folder returns at once, as in Chromium. */
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
  const folder = { isFile: false, isDirectory: true, name, fullPath, createReader };
  return folder as unknown as FileSystemEntry;
}

Deno.test("Folders are read in order, and empty ones are kept", async () => {
  const tree = { "a.txt": "a", empty: {}, sub: { deep: { "b.txt": "b" } } };
  const loose = new File(["x"], "loose.txt");
  const chosen = await filesIn([entryOf("album", tree), loose, entryOf("z.txt", "z")]);
  assertEquals(chosen.items.map(({ path }) => path), [
    "album/a.txt",
    "album/sub/deep/b.txt",
    "loose.txt",
    "z.txt",
  ]);
  assertEquals(chosen.folders, ["album/empty/"]);
});

Deno.test("A folder of more entries than one batch is read completely", async () => {
  const tree = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`${index}`, "x"]));
  const counts: number[] = [];
  await filesIn([entryOf("many", tree)], (count) => counts.push(count));
  assertEquals(counts.at(-1), 250);
});

Deno.test("An unreadable entry is an error", async () => {
  const createReader = () => ({
    readEntries: (_: unknown, fail: (error: Error) => void) => fail(new Error("No")),
  });
  const broken = { ...entryOf("x", {}), createReader } as unknown as FileSystemEntry;
  await assertRejects(() => filesIn([broken]), Error, "No");
});

Deno.test("Files of a chosen folder have paths", () => {
  const inFolder = Object.assign(new File([], "b.txt"), { webkitRelativePath: "a/b.txt" });
  assertEquals(chosenFiles([inFolder, new File([], "c.txt")]).map(({ path }) => path), [
    "a/b.txt",
    "c.txt",
  ]);
});

Deno.test("A pasted image gets a name with the time, other files keep theirs", () => {
  const files = [new File([], "image.png"), new File([], "plan.pdf")];
  const items = pastedFiles(files, new Date(2026, 10, 22, 9, 5, 7));
  assertEquals(items.map(({ path }) => path), [
    "Pasted image 2026-11-22 09.05.07.png",
    "plan.pdf",
  ]);
});
