import { assertEquals } from "@std/assert";
import { GIB } from "../../rules/units.ts";
import { filesOf, makeArchive } from "./test_support.ts";
import { ZipSource } from "./zip_import.ts";

Deno.test("Archives, and files in them, may be larger than 4 GB", async () => {
  const path = await Deno.makeTempFile();
  try {
    await makeArchive(path, [
      { path: "drives/d/small", size: 2, text: "ab" },
      { path: "drives/d/large", size: 5 * GIB },
      { path: "drives/d/behind", size: 3, text: "xyz" },
      { path: "drives/d/limit", size: 2 ** 32 - 1 },
    ]);
    using source = await ZipSource.open(path);
    assertEquals(source.bytes, 5 + 5 * GIB + 2 ** 32 - 1);
    assertEquals(await filesOf(source, 100), [
      ["drives/d/small", 2, "ab"],
      ["drives/d/large", 5 * GIB],
      ["drives/d/behind", 3, "xyz"],
      ["drives/d/limit", 2 ** 32 - 1],
    ]);
  } finally {
    await Deno.remove(path);
  }
});
