import { assertEquals, assertRejects } from "@std/assert";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { type AuthContext, requireProjectKey } from "./authentication.ts";
import { HttpError } from "./http_error.ts";
import { MAX_WRONG_KEYS, WrongKeyLimiter } from "./network/wrong_keys.ts";
import { someContext } from "./test_support.ts";

const KEY = "p_secret";

/** Knows one key, and notes what it is asked. */
function entrance(asked: string[] = [], from = "192.0.2.1"): AuthContext {
  const find = (hash: string) => {
    asked.push(hash);
    return Promise.resolve(hash === hashSecret(KEY) ? { project: "p", prefix: "sec" } : undefined);
  };
  return {
    keys: { find },
    wrongKeys: new WrongKeyLimiter(),
    address: () => from,
    context: someContext(),
  };
}

Deno.test("A key lets in to its own project, whatever the header's case", async () => {
  for (const name of ["X-Api-Key", "x-api-key", "X-API-KEY"]) {
    await requireProjectKey(new Headers({ [name]: KEY }), "p", entrance());
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
    const enter = () => requireProjectKey(new Headers(headers), project, entrance());
    const error = await assertRejects(enter, HttpError);
    assertEquals(error.status, status, about);
    assertEquals("WWW-Authenticate" in error.headers, status === 401, about);
    assertEquals(error.message.includes("secret"), false, about);
  }
});

Deno.test("The key itself is not looked up, only its hash, and one that is too long not at all", async () => {
  const asked: string[] = [];
  await requireProjectKey(new Headers({ "x-api-key": KEY }), "p", entrance(asked));
  assertEquals(asked, [hashSecret(KEY)]);
  const long = new Headers({ "x-api-key": "x".repeat(MAX_KEY_HEADER + 1) });
  await assertRejects(() => requireProjectKey(long, "p", entrance(asked)), HttpError);
  assertEquals(asked.length, 1);
});

Deno.test("After twenty wrong keys of a network the next one is told to wait, and a right one enters", async () => {
  const door = entrance();
  const enter = (key: string | undefined, from = door) =>
    requireProjectKey(new Headers(key === undefined ? {} : { "x-api-key": key }), "p", from);
  const statusOf = async (key: string | undefined, from = door) =>
    (await assertRejects(() => enter(key, from), HttpError)).status;
  for (let i = 0; i < MAX_WRONG_KEYS; i++) assertEquals(await statusOf(`p_${i}`), 401);
  const { status, headers, message } = await assertRejects(() => enter("p_wrong"), HttpError);
  assertEquals([status, Number(headers["Retry-After"]) >= 20], [429, true]);
  assertEquals(message.includes("p_wrong"), false);
  assertEquals(await statusOf("x".repeat(MAX_KEY_HEADER + 1)), 429);
  assertEquals(await statusOf(undefined), 401);
  assertEquals(await statusOf("p_wrong", { ...door, address: () => "192.0.3.2" }), 401);
  await enter(KEY);
});

Deno.test("Neither a missing key nor one of another project counts as wrong", async () => {
  const door = entrance();
  for (let i = 0; i <= MAX_WRONG_KEYS; i++) {
    await assertRejects(() => requireProjectKey(new Headers(), "p", door), HttpError);
    await assertRejects(
      () => requireProjectKey(new Headers({ "x-api-key": KEY }), "q", door),
      HttpError,
    );
  }
  assertEquals(door.wrongKeys.record(door.address()), undefined);
});
