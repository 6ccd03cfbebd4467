import { assertEquals, assertRejects } from "@std/assert";
import { MAX_KEY_HEADER } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { authenticate, type KeyRing } from "./authenticate.ts";
import { HttpError } from "./http_error.ts";

const KEY = "p_secret";

/** Knows one key, and notes what it is asked. */
function keyRing(asked: string[] = []): KeyRing {
  return {
    projectOf: (hash) => {
      asked.push(hash);
      return Promise.resolve(hash === hashSecret(KEY) ? "p" : undefined);
    },
  };
}

Deno.test("A key lets in to its own project, whatever the header's case", async () => {
  for (const name of ["X-Api-Key", "x-api-key", "X-API-KEY"]) {
    await authenticate(new Headers({ [name]: KEY }), "p", keyRing());
  }
});

Deno.test("Without a known key it is 401, with one of another project 403", async () => {
  const cases = [
    [{}, "p", 401],
    [{ "x-api-key": "" }, "p", 401],
    [{ "x-api-key": "p_other" }, "p", 401],
    [{ "x-api-key": "P_secret" }, "p", 401],
    [{ "x-api-key": `${KEY}, ${KEY}` }, "p", 401],
    [{ "authorization": `Bearer ${KEY}` }, "p", 401],
    [{ "x-api-key": hashSecret(KEY) }, "p", 401],
    [{ "x-api-key": KEY }, "q", 403],
    [{ "x-api-key": KEY }, "", 403],
    [{ "x-api-key": KEY }, "P", 403],
  ] as const;
  for (const [headers, project, status] of cases) {
    const about = JSON.stringify([headers, project]);
    const enter = () => authenticate(new Headers(headers), project, keyRing());
    const error = await assertRejects(enter, HttpError);
    assertEquals(error.status, status, about);
    assertEquals("WWW-Authenticate" in error.headers, status === 401, about);
    assertEquals(error.message.includes("secret"), false, about);
  }
});

Deno.test("The key itself is not looked up, only its hash, and one that is too long not at all", async () => {
  const asked: string[] = [];
  await authenticate(new Headers({ "x-api-key": KEY }), "p", keyRing(asked));
  assertEquals(asked, [hashSecret(KEY)]);
  const long = new Headers({ "x-api-key": "x".repeat(MAX_KEY_HEADER + 1) });
  await assertRejects(() => authenticate(long, "p", keyRing(asked)), HttpError);
  assertEquals(asked.length, 1);
});
