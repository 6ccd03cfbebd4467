import { assert, assertEquals, assertMatch } from "@std/assert";
import { MAX_KEY_HEADER, MIN_SECRET } from "./limits.ts";
import { hashSecret, newProjectKey, newSecret, parseProjectKey } from "./secrets.ts";

Deno.test("A new project key is an id and a secret, joined by the only underscore", () => {
  for (let i = 0; i < 200; i++) {
    const { project, secret, text } = newProjectKey();
    assertEquals(text, `${project}_${secret}`);
    assertMatch(project, /^[a-z0-9]{12}$/);
    assertMatch(secret, /^[A-Za-z0-9]{32}$/);
    assertEquals(text.split("_").length, 2);
    assert(text.length <= MAX_KEY_HEADER);
    assertEquals(parseProjectKey(text), { project, secret, text });
  }
});

Deno.test("A new secret has enough characters, and uses all of its alphabet", () => {
  const secrets = Array.from({ length: 200 }, newSecret);
  for (const secret of secrets) assert(secret.length >= MIN_SECRET);
  assertEquals(new Set(secrets.join("")).size, 62);
});

Deno.test("No two secrets and no two projects are the same", () => {
  const keys = Array.from({ length: 500 }, newProjectKey);
  assertEquals(new Set(keys.map(({ secret }) => secret)).size, 500);
  assertEquals(new Set(keys.map(({ project }) => project)).size, 500);
  assertEquals(new Set(Array.from({ length: 500 }, newSecret)).size, 500);
});

Deno.test("A project key is cut at its first underscore", () => {
  const cases = [
    ["a_b", "a", "b"],
    ["my-Project-1_s3cret", "my-Project-1", "s3cret"],
    ["a_b_c", "a", "b_c"],
    ["a__b", "a", "_b"],
    [`${"x".repeat(64)}_!~`, "x".repeat(64), "!~"],
  ] as const;
  for (const [text, project, secret] of cases) {
    assertEquals(parseProjectKey(text), { project, secret, text });
  }
});

Deno.test("What has no id or no secret in front of and behind an underscore is no project key", () => {
  const texts = [
    "",
    "_",
    "a",
    "a_",
    "_b",
    "a b_c",
    "a.b_c",
    "ä_b",
    "a_b c",
    "a_b\n",
    "a_\u00fc",
    "a_b\0",
    `${"x".repeat(65)}_b`,
  ];
  for (const text of texts) assertEquals(parseProjectKey(text), undefined, JSON.stringify(text));
});

Deno.test("A secret's hash is its SHA-256 in hexadecimal", () => {
  const cases = [
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["ü", "607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f"],
  ] as const;
  for (const [text, hash] of cases) assertEquals(hashSecret(text), hash);
});
