import { assertEquals } from "@std/assert";
import { codeIn } from "./sign_in.tsx";

Deno.test("A sign-in code in the address signs in, and a key does not", () => {
  const code = `once_${"aB3".repeat(10)}xy`;
  assertEquals(codeIn(`#code=${code}`), code);
  const others = ["album_secretsecretsecretsecret", `${code}1`, "once_", code.slice(5)];
  for (const text of others) assertEquals(codeIn(`#code=${text}`), undefined, text);
});
