import { assert, assertEquals, assertLess } from "@std/assert";
import { bundleClient } from "./package.ts";

/** "under 15 KB minified and compressed" */
const MAX_BYTES = 15_000;

/** What the oldest runtimes do not have: interfaces of one runtime, and what came after ES2022 and Node.js 20.0. */
const UNKNOWN =
  /\bDeno\.|\bprocess\.|\bBuffer\.|"node:|\.(?:withResolvers|isWellFormed|canParse|fromAsync|toSorted|toReversed|groupBy|transferToFixedLength|try)\(|AbortSignal\.(?:any|timeout)|ReadableStream\.from|asyncDispose/g;

Deno.test("the client is small, and needs nothing that browsers and Node.js 20 lack", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-client-size-" });
  try {
    const path = `${folder}/mod.js`;
    await bundleClient(path, "--minify");
    const text = await Deno.readTextFile(path);
    const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
    assertLess((await new Response(compressed).bytes()).length, MAX_BYTES);
    assertEquals(text.match(UNKNOWN), null);
    assertEquals(text.match(/\bimport\b[^(]/g), null);
    assert(/export\s*\{/.test(text));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
