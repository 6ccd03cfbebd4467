import { assertEquals } from "@std/assert";
import { sha256Of } from "./file_details.js";

Deno.test("A SHA-256 digest is written like sha256sum; other digests are ignored", () => {
  const empty = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
  const hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  assertEquals(sha256Of(`sha-256=:${empty}:`), hex);
  assertEquals(sha256Of(`sha-512=:AAAA:, sha-256=:${empty}:`), hex);
  assertEquals(sha256Of("sha-512=:AAAA:"), undefined);
  assertEquals(sha256Of(null), undefined);
});
