import { assertEquals } from "@std/assert";
import { API_DOC, withErrorCodes } from "./error_codes_doc.ts";

Deno.test("docs/api.md lists every error code", async () => {
  const page = await Deno.readTextFile(API_DOC);
  assertEquals(page, withErrorCodes(page), "Run: deno task docs");
});
