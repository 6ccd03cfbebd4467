import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  hashSecret,
  isAccessKeyId,
  KEY_PREFIX_LENGTH,
  keyPrefix,
  MAX_KEY_HEADER,
  MIN_SECRET_LENGTH,
  MIN_SHOWN_SECRET_LENGTH,
  newAppKey,
  newProjectKey,
  newS3Key,
  newSecret,
  parseProjectKey,
} from "./secrets.ts";

Deno.test("A new project key is an id and a secret, joined by its only underscore", () => {
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

Deno.test("A new secret has enough characters and uses the whole alphabet", () => {
  const secrets = Array.from({ length: 200 }, newSecret);
  for (const secret of secrets) assert(secret.length >= MIN_SECRET_LENGTH);
  assertEquals(new Set(secrets.join("")).size, 62);
});

Deno.test("All secrets and project ids are different", () => {
  const keys = Array.from({ length: 500 }, () => newProjectKey());
  assertEquals(new Set(keys.map(({ secret }) => secret)).size, 500);
  assertEquals(new Set(keys.map(({ project }) => project)).size, 500);
  assertEquals(new Set(Array.from({ length: 500 }, newSecret)).size, 500);
});

Deno.test("A project key is split at its first underscore", () => {
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

Deno.test("A text without an id or a secret is no project key", () => {
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

Deno.test("A project key is as long as a key in a header may be, and no longer", () => {
  const longest = `p_${"x".repeat(MAX_KEY_HEADER - 2)}`;
  assertEquals(parseProjectKey(longest)?.text, longest);
  assertEquals(parseProjectKey(`${longest}x`), undefined);
});

Deno.test("The hash of a secret is its SHA-256 in hexadecimal", () => {
  const cases = [
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["ü", "607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f"],
  ] as const;
  for (const [text, hash] of cases) assertEquals(hashSecret(text), hash);
});

Deno.test("A new key of an existing project has its id", () => {
  const { project, secret, text } = newProjectKey("My-Project");
  assertEquals([project, text], ["My-Project", `My-Project_${secret}`]);
});

Deno.test("A long secret is listed by its first characters, and enough of it stays hidden", () => {
  const { secret, text } = newProjectKey();
  const prefixes = [text, `a_${"x".repeat(MIN_SHOWN_SECRET_LENGTH)}`].map(prefix);
  assertEquals(prefixes, [secret.slice(0, KEY_PREFIX_LENGTH), "x".repeat(KEY_PREFIX_LENGTH)]);
  assert(MIN_SHOWN_SECRET_LENGTH - KEY_PREFIX_LENGTH >= MIN_SECRET_LENGTH);
});

Deno.test("A short secret is listed by its hash", () => {
  for (const text of ["a_swordfish", "a_s", `a_${"x".repeat(MIN_SHOWN_SECRET_LENGTH - 1)}`]) {
    assertEquals(prefix(text), hashSecret(text).slice(0, KEY_PREFIX_LENGTH));
  }
});

function prefix(text: string): string {
  const key = parseProjectKey(text);
  assert(key !== undefined);
  return keyPrefix(key);
}

Deno.test("A new application key is a unique prefix and secret, joined by a dot", () => {
  const keys = Array.from({ length: 500 }, newAppKey);
  for (const { prefix, secret, text } of keys) {
    assertEquals(text, `${prefix}.${secret}`);
    assertMatch(text, /^[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}$/);
  }
  assertEquals(new Set(keys.map(({ secret }) => secret)).size, 500);
  assertEquals(new Set(keys.map(({ prefix }) => prefix)).size, 500);
});

Deno.test("An S3 key has an id of 20 characters and a secret of 40, all different", () => {
  const keys = Array.from({ length: 200 }, newS3Key);
  for (const { accessKeyId, secret } of keys) {
    assertMatch(accessKeyId, /^KV[A-Z0-9]{18}$/);
    assert(isAccessKeyId(accessKeyId));
    assertMatch(secret, /^[A-Za-z0-9]{40}$/);
  }
  assertEquals(new Set(keys.map(({ accessKeyId }) => accessKeyId)).size, 200);
  assertEquals(new Set(keys.map(({ secret }) => secret).join("")).size, 62);
  const id = keys[0]?.accessKeyId ?? "";
  for (const bad of ["", id.slice(1), `${id}A`, id.toLowerCase(), `${id}\n`, `AK${id.slice(2)}`]) {
    assertEquals(isAccessKeyId(bad), false, bad);
  }
});
