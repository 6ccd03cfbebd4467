import { assertEquals } from "@std/assert";
import { UPLOAD_STATE_TIME, UploadStates } from "./upload.ts";

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(`${folder}/states`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const KEY = ["server", "drive", "name"];

Deno.test("An upload is remembered with its parts until it is finished", async () => {
  await withFolder(async (folder) => {
    const states = new UploadStates(folder);
    assertEquals(await states.find(KEY, "1"), undefined);
    const begun = await states.begin(KEY, "1", "ID");
    await begun.addPart(2, "two");
    await begun.addPart(1, "one");
    const found = await new UploadStates(folder).find(KEY, "1");
    assertEquals([found?.id, [...found?.digests ?? []]], ["ID", [[2, "two"], [1, "one"]]]);
    assertEquals(await states.find(KEY, "another stamp"), undefined);
    assertEquals(await states.find(["other"], "1"), undefined);
    await begun.finish();
    assertEquals(await states.find(KEY, "1"), undefined);
  });
});

Deno.test("A truncated line of a state file is ignored", async () => {
  await withFolder(async (folder) => {
    const states = new UploadStates(folder);
    const begun = await states.begin(KEY, "1", "ID");
    await begun.addPart(1, "one");
    const [{ name } = { name: "" }] = [...Deno.readDirSync(folder)];
    await Deno.writeTextFile(`${folder}/${name}`, '{"part":2,"sha', { append: true });
    assertEquals([...(await states.find(KEY, "1"))?.digests.keys() ?? []], [1]);
  });
});

Deno.test("The version that an upload produced can be remembered", async () => {
  await withFolder(async (folder) => {
    const states = new UploadStates(folder);
    await (await states.begin(KEY, "1", "ID")).finish("etag");
    assertEquals(await states.storedVersion(KEY, "1"), "etag");
    assertEquals(await states.storedVersion(KEY, "2"), undefined);
    assertEquals(await states.find(KEY, "1"), undefined);
  });
});

Deno.test("Expired states are removed", async () => {
  await withFolder(async (folder) => {
    const states = new UploadStates(folder);
    await states.begin(KEY, "1", "ID");
    await states.begin(["new"], "1", "ID2");
    const old = (Date.now() - UPLOAD_STATE_TIME) / 1000 - 60;
    const [{ name } = { name: "" }] = [...Deno.readDirSync(folder)];
    await Deno.utime(`${folder}/${name}`, old, old);
    await states.removeExpired();
    assertEquals([...Deno.readDirSync(folder)].length, 1);
  });
});

Deno.test("Without a folder nothing is remembered and nothing fails", async () => {
  const states = new UploadStates(undefined);
  const begun = await states.begin(KEY, "1", "ID");
  await begun.addPart(1, "one");
  await begun.finish();
  await states.removeExpired();
  assertEquals(await states.find(KEY, "1"), undefined);
});
