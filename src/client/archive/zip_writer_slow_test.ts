import { assertEquals } from "@std/assert";
import { filesOf, makeArchive } from "./test_support.ts";
import { ZipSource } from "./zip_import.ts";

Deno.test("An archive may have more than 65,535 files", async () => {
  const path = await Deno.makeTempFile();
  try {
    const count = 65_540;
    const entries = Array.from({ length: count }, (_, i) => ({ path: `drives/d/${i}`, size: 0 }));
    await makeArchive(path, entries);
    using source = await ZipSource.open(path);
    const files = await filesOf(source, 0);
    assertEquals([files.length, files.at(-1)], [count, [`drives/d/${count - 1}`, 0, ""]]);
  } finally {
    await Deno.remove(path);
  }
});
