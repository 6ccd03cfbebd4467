import { assertEquals, assertRejects } from "@std/assert";
import { MAX_KEY_HEADER, MAX_WRONG_KEYS } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { authenticate, type Entrance } from "./authenticate.ts";
import { HttpError } from "./http_error.ts";
import { someVisit } from "./test_support.ts";
import { WrongKeys } from "./wrong_keys.ts";

const KEY = "p_secret";

/** Knows one key, and notes what it is asked. */
function entrance(asked: string[] = [], from = "192.0.2.1"): Entrance {
  const opens = (hash: string) => {
    asked.push(hash);
    return Promise.resolve(hash === hashSecret(KEY) ? { project: "p", prefix: "sec" } : undefined);
  };
  return {
    keys: { opens },
    wrongKeys: new WrongKeys(),
    address: () => from,
    visit: someVisit(),
  };
}

Deno.test("A key lets in to its own project, whatever the header's case", async () => {
  for (const name of ["X-Api-Key", "x-api-key", "X-API-KEY"]) {
    await authenticate(new Headers({ [name]: KEY }), "p", entrance());
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
    const enter = () => authenticate(new Headers(headers), project, entrance());
    const error = await assertRejects(enter, HttpError);
    assertEquals(error.status, status, about);
    assertEquals("WWW-Authenticate" in error.headers, status === 401, about);
    assertEquals(error.message.includes("secret"), false, about);
  }
});

Deno.test("The key itself is not looked up, only its hash, and one that is too long not at all", async () => {
  const asked: string[] = [];
  await authenticate(new Headers({ "x-api-key": KEY }), "p", entrance(asked));
  assertEquals(asked, [hashSecret(KEY)]);
  const long = new Headers({ "x-api-key": "x".repeat(MAX_KEY_HEADER + 1) });
  await assertRejects(() => authenticate(long, "p", entrance(asked)), HttpError);
  assertEquals(asked.length, 1);
});

Deno.test("After twenty wrong keys of a network the next one is told to wait, and a right one enters", async () => {
  const door = entrance();
  const enter = (key: string | undefined, from = door) =>
    authenticate(new Headers(key === undefined ? {} : { "x-api-key": key }), "p", from);
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
    await assertRejects(() => authenticate(new Headers(), "p", door), HttpError);
    await assertRejects(
      () => authenticate(new Headers({ "x-api-key": KEY }), "q", door),
      HttpError,
    );
  }
  assertEquals(door.wrongKeys.refuse(door.address()), undefined);
});
