import { assert, assertEquals, assertRejects } from "@std/assert";
import { CommandError } from "../terminal/output.ts";
import { SecretFile } from "./secret_file.ts";

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-secret-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("A secret file contains only the secret, and only its owner can read it", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/key`;
    using file = await SecretFile.create(path);
    await file.write("abc.def");
    assertEquals(await Deno.readTextFile(path), "abc.def\n");
    assertEquals((await Deno.stat(path)).mode, 0o100600);
  });
});

Deno.test("An existing file is never written to", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "earlier");
    await Deno.mkdir(`${folder}/folder`);
    await Deno.symlink(`${folder}/nowhere`, `${folder}/link`);
    for (const name of ["file", "folder", "link"]) {
      const { message } = await assertRejects(
        () => SecretFile.create(`${folder}/${name}`),
        CommandError,
      );
      assert(message.startsWith(`The file ${folder}/${name} exists`), message);
    }
    assertEquals(await Deno.readTextFile(`${folder}/file`), "earlier");
    await assertRejects(() => Deno.stat(`${folder}/nowhere`), Deno.errors.NotFound);
  });
});

Deno.test("A file that cannot be created is reported with the reason", async () => {
  await withFolder(async (folder) => {
    const create = () => SecretFile.create(`${folder}/missing/key`);
    const path = `${folder}/missing/key`;
    await assertRejects(create, CommandError, `Cannot create the file ${path}: No such file`);
    const folderName = `${folder}/nowhere/`;
    const reason = `Cannot create the file ${folderName}: it is a folder`;
    await assertRejects(() => SecretFile.create(folderName), CommandError, reason);
  });
});

Deno.test("A discarded file is removed", async () => {
  await withFolder(async (folder) => {
    using file = await SecretFile.create(`${folder}/key`);
    await file.discard();
    await file.discard();
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  });
});
