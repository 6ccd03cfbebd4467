import { assertEquals } from "@std/assert";
import { BUNDLE, bundleDashboard } from "./dashboard.ts";

async function contentsOf(folder: string): Promise<Record<string, string>> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const names = entries.map(({ name }) => name).toSorted();
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [name, await Deno.readTextFile(`${folder}/${name}`)]),
    ),
  );
}

Deno.test("The bundle is that of the dashboard's sources: otherwise run deno task dashboard", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await bundleDashboard(folder);
    assertEquals(await contentsOf(BUNDLE), await contentsOf(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
