import { assertEquals } from "@std/assert";
import { storedForm } from "./resource.ts";

const NFC = "\u00e9";
const NFD = "e\u0301";

/** Finds the stored form of a name among some files. Also returns how often the store was asked. */
async function formOf(name: string, files: readonly string[]): Promise<[string, number]> {
  let asked = 0;
  const form = await storedForm(name, (wanted) => {
    asked++;
    const isFolder = wanted.endsWith("/");
    return Promise.resolve(
      files.some((file) => isFolder ? file.startsWith(wanted) : file === wanted),
    );
  });
  return [form, asked];
}

Deno.test("A name is found in the form in which it is stored, in each segment", async () => {
  const stored = `${NFC}/a/${NFD}`;
  for (const name of [stored, `${NFD}/a/${NFD}`, `${NFC}/a/${NFC}`, `${NFD}/a/${NFC}`]) {
    assertEquals((await formOf(name, [stored]))[0], stored);
  }
  assertEquals((await formOf(`${NFD}/a`, [stored]))[0], `${NFC}/a`);
});

Deno.test("A new name keeps its form, in the folder that exists", async () => {
  assertEquals((await formOf(`${NFD}/${NFD}`, [`${NFC}/x`]))[0], `${NFC}/${NFD}`);
  assertEquals((await formOf(`x/${NFD}`, []))[0], `x/${NFD}`);
  assertEquals((await formOf(`${NFD}/${NFC}`, []))[0], `${NFD}/${NFC}`);
});

Deno.test("The store is asked once for a name that it has, and rarely for one without its folder", async () => {
  assertEquals(await formOf("a/b", []), ["a/b", 0]);
  assertEquals((await formOf(`${NFC}/${NFC}`, [`${NFC}/${NFC}`]))[1], 1);
  const [form, asked] = await formOf(`${NFD}/`.repeat(200) + NFD, []);
  assertEquals(form, `${NFD}/`.repeat(200) + NFD);
  assertEquals(asked <= 4, true, `${asked}`);
});
