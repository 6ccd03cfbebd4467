import { assertEquals, assertRejects } from "@std/assert";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { ClientError, KvdriveError } from "../errors.ts";
import type { RemoteDrives } from "../drives.ts";
import { FolderSource } from "./folder.ts";
import type { ImportSource } from "./import.ts";
import { makeArchive } from "./test_support.ts";
import { ZipTarget } from "./export.ts";
import { ZipSource } from "./zip_import.ts";
import { ZipWriter } from "./zip_writer.ts";

const INDEX = "kvdrive.jsonl";

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes an archive of files of one byte. */
async function writeZip(path: string, names: readonly string[]): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true });
  const zip = new ZipWriter(file);
  const entries = [];
  for (const name of names) {
    const about = { path: name, size: 1, modified: 0 };
    entries.push(await zip.add(about, (take) => take(Uint8Array.of(1))));
  }
  await zip.finish(entries);
}

/** Lists the paths of all files, and the problems. */
async function pathsOf(source: ImportSource): Promise<string[]> {
  const paths: string[] = [];
  for await (const file of source.entries()) {
    if ("isEmpty" in file) continue;
    paths.push("problem" in file ? `${file.path}: ${file.problem}` : file.path);
  }
  return paths;
}

/** Runs a test on the same files in a folder and in an archive. */
async function eachSource(
  files: readonly string[],
  test: (open: () => Promise<ImportSource>) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const out = join(folder, "out");
    await Deno.mkdir(out);
    for (const path of files) {
      await Deno.mkdir(dirname(join(out, path)), { recursive: true });
      await Deno.writeTextFile(join(out, path), "x");
    }
    await test(() => FolderSource.open(out));
    const zip = join(folder, "out.zip");
    await writeZip(zip, files);
    await test(() => ZipSource.open(zip));
  });
}

Deno.test("An export may be inside another folder", async () => {
  for (const root of ["", "my export/"]) {
    await withFolder(async (folder) => {
      await Deno.mkdir(join(folder, root, "drives/d"), { recursive: true });
      await Deno.writeTextFile(join(folder, root, "drives/d/a"), "x");
      await Deno.writeTextFile(join(folder, "readme.txt"), "x");
      assertEquals(await pathsOf(await FolderSource.open(folder)), ["drives/d/a"]);
      const zip = join(folder, "out.zip");
      const paths = [`${root}drives/d/a`, "readme.txt", "__MACOSX/drives.txt"];
      await writeZip(zip, paths);
      using source = await ZipSource.open(zip);
      assertEquals([await pathsOf(source), source.bytes], [["drives/d/a"], 1]);
    });
  }
});

Deno.test("A folder or archive without an export, or with several, is refused", async () => {
  const cases: [files: string[], says: string][] = [
    [[], 'has no folder "drives"'],
    [["photos/cat.jpg"], 'has no folder "drives"'],
    [["a/b/drives/d/x"], 'has no folder "drives"'],
    [["b/drives/d/x", "a/drives/d/x"], "has several exports (a, b): import them one by one"],
  ];
  for (const [files, says] of cases) {
    await eachSource(files, async (open) => {
      await assertRejects(open, ClientError, says);
    });
  }
  await assertRejects(
    () => FolderSource.open("/missing/folder"),
    ClientError,
    "There is no folder",
  );
});

Deno.test("A file that is no archive is refused with its name", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "a.txt");
    await Deno.writeTextFile(path, "no archive");
    await assertRejects(
      () => ZipSource.open(path),
      ClientError,
      `Cannot read the archive ${path}: it is no zip archive, or it is damaged`,
    );
    await assertRejects(() => ZipSource.open(join(folder, "b")), ClientError, "No such file");
  });
});

Deno.test("Folders are listed, also those that only the index and the paths of files tell of", async () => {
  await withFolder(async (folder) => {
    const out = join(folder, "out");
    for (const path of ["empty/in", "files", "kept"]) {
      await Deno.mkdir(join(out, "drives/d", path), { recursive: true });
    }
    for (const file of ["files/a", "kept/b"]) {
      await Deno.writeTextFile(join(out, "drives/d", file), "x");
    }
    const lines = ["kept", "lost"].map((name) =>
      `${JSON.stringify({ drive: "d", name: `${name}/`, path: `drives/d/${name}/`, size: 0 })}\n`
    );
    await Deno.writeTextFile(join(out, INDEX), lines.join(""));
    const zip = join(folder, "out.zip");
    await makeArchive(zip, [
      { path: "drives/d/empty/", size: 0 },
      { path: "drives/d/empty/in/", size: 0 },
      { path: "drives/d/files/", size: 0 },
      { path: "drives/d/files/a", size: 1, text: "x" },
      { path: "drives/d/kept/b", size: 1, text: "x" },
      { path: INDEX, size: lines.join("").length, text: lines.join("") },
    ]);
    using archive = await ZipSource.open(zip);
    for (const source of [await FolderSource.open(out), archive]) {
      assertEquals(source.bytes, 2);
      const folders = new Map<string, boolean>();
      for await (const found of source.entries()) {
        if ("isEmpty" in found) folders.set(found.path, found.isEmpty);
      }
      folders.delete("drives/d/");
      assertEquals(Object.fromEntries([...folders].sort()), {
        "drives/d/empty/": false,
        "drives/d/empty/in/": true,
        "drives/d/files/": false,
        "drives/d/kept/": false,
      });
    }
  });
});

Deno.test("An interrupted archive is completed with the folders that are kept by then", async () => {
  await withFolder(async (folder) => {
    const zip = join(folder, "out.zip");
    const keep = async (names: readonly string[], isComplete: boolean) => {
      // Folders need no server.
      using target = await ZipTarget.open({} as RemoteDrives, zip, { force: false });
      for (const name of names) await target.addFolder("d", name);
      if (isComplete) await target.finish();
    };
    await keep(["a/", "gone/", "../"], false);
    await keep(["a/", "../", "b/"], true);
    using source = await ZipSource.open(zip);
    const found: string[] = [];
    for await (const { path } of source.entries()) found.push(source.index.get(path)?.name ?? "");
    assertEquals(found.sort(), ["../", "a/", "b/"]);
  });
});

Deno.test("Links inside an export are not followed; the folder itself may be a link", async () => {
  await withFolder(async (folder) => {
    const at = (path: string) => join(folder, path);
    await Deno.mkdir(at("outside/d"), { recursive: true });
    await Deno.writeTextFile(at("outside/d/secret"), "secret");
    await Deno.mkdir(at("linked"));
    await Deno.symlink(at("outside"), at("linked/drives"));
    const refused = "is a symbolic link";
    await assertRejects(() => FolderSource.open(at("linked")), ClientError, refused);
    await Deno.mkdir(at("index/drives/d"), { recursive: true });
    await Deno.symlink(at("outside/d/secret"), at(`index/${INDEX}`));
    await assertRejects(() => FolderSource.open(at("index")), ClientError, refused);
    await Deno.mkdir(at("wrap"));
    await Deno.symlink(at("inside"), at("wrap/export"));
    await Deno.mkdir(at("inside/drives/d"), { recursive: true });
    await Deno.writeTextFile(at("inside/drives/d/mine"), "mine");
    await assertRejects(
      () => FolderSource.open(at("wrap")),
      ClientError,
      'has no folder "drives"',
    );
    for (const [link, target] of [["d/file", "outside/d/secret"], ["d/folder", "outside"]]) {
      await Deno.symlink(at(target ?? ""), at(`inside/drives/${link}`));
    }
    await Deno.symlink("inside", at("named"));
    for (const name of ["inside", "named"]) {
      const found = await pathsOf(await FolderSource.open(at(name)));
      const problem = "it is a symbolic link";
      const links = ["file", "folder"].map((one) => `drives/d/${one}: ${problem}`);
      assertEquals(found, [...links, "drives/d/mine"]);
    }
  });
});

Deno.test("A file that was replaced by a link after listing is not read", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "drives/d"), { recursive: true });
    await Deno.writeTextFile(join(folder, "secret"), "secret");
    await Deno.writeTextFile(join(folder, "drives/d/a"), "mine!!");
    for await (const file of (await FolderSource.open(folder)).entries()) {
      if ("isEmpty" in file) continue;
      if ("problem" in file) throw new Error(file.problem);
      await Deno.remove(join(folder, file.path));
      await Deno.symlink(join(folder, "secret"), join(folder, file.path));
      const read = async () => {
        for await (const _ of file.source.read());
      };
      await assertRejects(read, KvdriveError, "changed while it was read");
    }
  });
});
