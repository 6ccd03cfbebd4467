import { assertEquals, assertStringIncludes } from "@std/assert";
import { Repository } from "./repository.ts";

Deno.test("a flipped bit anywhere in the file of a repository is damage, not another repository", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [store, target] = [crypto.randomUUID(), `${folder}/repository`];
    await Repository.openFor(store, { target });
    const path = `${target}/config`;
    const good = await Deno.readFile(path);
    for (let at = 0; at < good.length; at++) {
      const bad = good.slice();
      bad[at]! ^= 1;
      await Deno.writeFile(path, bad);
      const found = await Repository.openFor(store, { target }).then(() => "opened", String);
      assertStringIncludes(found, "is not that of a repository, or damaged", `byte ${at}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the file of a repository that was made before it had a checksum is read", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [store, target] = [crypto.randomUUID(), `${folder}/repository`];
    const { config } = await Repository.openFor(store, { target });
    const before = { kvdrive: "repository of backups", version: 1, ...config };
    await Deno.writeTextFile(`${target}/config`, JSON.stringify(before));
    assertEquals((await Repository.openFor(store, { target })).config, config);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
