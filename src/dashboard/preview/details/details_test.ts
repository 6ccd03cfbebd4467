import { assertEquals } from "@std/assert";
import { sha256In } from "./file_details.tsx";
import { curlOf } from "./links.tsx";

Deno.test("A digest is shown in hexadecimal digits", () => {
  const header = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:";
  const digits = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  assertEquals(sha256In(header), digits);
  assertEquals(sha256In(""), undefined);
});

Deno.test("The command for curl quotes every name", () => {
  const entry = { kind: "file" as const, name: 'a/it\'s $(rm) "x".txt' };
  assertEquals(
    curlOf({ project: "p", drive: "my drive" }, entry, "https://host"),
    `curl -H "X-Api-Key: $KEY" -o 'it'\\''s $(rm) "x".txt' ` +
      `'https://host/v1/p/my%20drive/files/download?name=a%2Fit'\\''s%20%24(rm)%20%22x%22.txt'`,
  );
});
