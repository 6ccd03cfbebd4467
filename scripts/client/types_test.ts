import { assertEquals } from "@std/assert";
import { CLIENT_TYPES_FILE, clientTypes } from "./types.ts";

Deno.test("the types of the client are those of the OpenAPI description", async () => {
  const text = await Deno.readTextFile(CLIENT_TYPES_FILE);
  assertEquals(text, await clientTypes(), "Run: deno task docs");
});
