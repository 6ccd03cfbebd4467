import { assert, assertEquals, assertMatch } from "@std/assert";
import { ERROR_CODE_NAMES, errorKind, Refusal } from "./error_codes.ts";

Deno.test("a code has a status of an error, and a sentence", () => {
  for (const code of ERROR_CODE_NAMES) {
    const { status, meaning } = errorKind(code);
    assertMatch(code, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    assert(status >= 400 && status < 600, code);
    assertMatch(meaning, /^[A-Z`].*\.$/s, code);
  }
});

Deno.test("codes are in the order of their statuses", () => {
  const statuses = ERROR_CODE_NAMES.map((code) => errorKind(code).status);
  assertEquals(statuses, statuses.toSorted((a, b) => a - b));
});

Deno.test("what may succeed soon says when to try again", () => {
  for (const code of ERROR_CODE_NAMES) {
    const { status, headers } = errorKind(code);
    if (status === 503) assertEquals(headers?.["Retry-After"], "1", code);
  }
});

Deno.test("a refusal has the status of its code", () => {
  const { status, code, message, name } = new Refusal("quota_exceeded", "It is full");
  assertEquals([status, code, message, name], [507, "quota_exceeded", "It is full", "Refusal"]);
});
