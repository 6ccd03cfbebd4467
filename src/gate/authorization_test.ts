import { assertEquals } from "@std/assert";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { readCredentials } from "./authorization.ts";

Deno.test("a key is read up to the length that a key can have", () => {
  const read = (value: string) =>
    readCredentials([{ name: "X-API-Key", lower: "x-api-key", value }], []);
  const longest = "x".repeat(MAX_KEY_HEADER);
  assertEquals(read(longest), {
    key: { hash: hashSecret(longest), isProjectKey: false },
    sessions: [],
    isOverlong: false,
  });
  assertEquals(read(`${longest}x`), { sessions: [], isOverlong: true });
  assertEquals(read("p_secret").key, { hash: hashSecret("p_secret"), isProjectKey: true });
  assertEquals(read(""), { sessions: [], isOverlong: false });
});
