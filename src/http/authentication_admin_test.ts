import { assertEquals, assertRejects } from "@std/assert";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { authenticateCaller, type Caller } from "./authentication.ts";
import { HttpError } from "./http_error.ts";
import { MAX_WRONG_KEYS, WrongKeyLimiter } from "./network/wrong_keys.ts";
import { someContext } from "./test_support.ts";

const KEY = "p_secret";
const TOKEN = "token-of-the-administrator";

const tokens = { isAdminToken: (hash: string) => Promise.resolve(hash === hashSecret(TOKEN)) };

function ask(headers: Record<string, string>, wrongKeys = new WrongKeyLimiter()): Promise<Caller> {
  const find = (hash: string) =>
    Promise.resolve(hash === hashSecret(KEY) ? { project: "p", prefix: "sec" } : undefined);
  const entrance = {
    keys: { find },
    wrongKeys,
    address: () => "192.0.2.1",
    context: someContext(),
  };
  return authenticateCaller(new Headers(headers), tokens, entrance);
}

Deno.test("The administrator's token is read from Authorization, whatever the case of the scheme", async () => {
  for (const scheme of ["Bearer ", "bearer ", "BEARER   "]) {
    assertEquals(await ask({ authorization: scheme + TOKEN }), { isAdministrator: true });
  }
});

Deno.test("A project key makes an owner, and a token decides where there is one", async () => {
  const owner = { isAdministrator: false, project: "p" };
  assertEquals(await ask({ "x-api-key": KEY }), owner);
  for (const none of ["", "Bearer", "Bearer ", `Basic ${TOKEN}`, TOKEN]) {
    assertEquals(await ask({ "x-api-key": KEY, authorization: none }), owner, none);
  }
  const both = { "x-api-key": "p_wrong", authorization: `Bearer ${TOKEN}` };
  assertEquals(await ask(both), { isAdministrator: true });
});

Deno.test("Without a known one of them it is 401, which says how to come in and nothing that was sent", async () => {
  const cases: Record<string, string>[] = [
    {},
    { "x-api-key": "" },
    { "x-api-key": "p_wrong" },
    { "x-api-key": TOKEN },
    { authorization: "Bearer wrong" },
    { authorization: `Bearer ${TOKEN}x` },
    { authorization: `Bearer ${hashSecret(TOKEN)}` },
    { authorization: `Bearer ${KEY}` },
    { authorization: `Bearer ${"x".repeat(MAX_KEY_HEADER + 1)}` },
    { authorization: "Bearer wrong", "x-api-key": KEY },
  ];
  for (const headers of cases) {
    const error = await assertRejects(() => ask(headers), HttpError);
    assertEquals([error.status, "WWW-Authenticate" in error.headers], [401, true]);
    for (const secret of ["wrong", TOKEN, "secret"]) {
      assertEquals(error.message.includes(secret), false, error.message);
    }
  }
});

Deno.test("Wrong tokens and wrong keys count together, and the right ones come in meanwhile", async () => {
  const wrongKeys = new WrongKeyLimiter();
  const wrong = [{ authorization: "Bearer wrong" }, { "x-api-key": "p_wrong" }];
  const statuses: number[] = [];
  for (let i = 0; i < MAX_WRONG_KEYS + 2; i++) {
    const error = await assertRejects(() => ask(wrong[i % 2] ?? {}, wrongKeys), HttpError);
    statuses.push(error.status);
  }
  assertEquals(statuses, [...Array<number>(MAX_WRONG_KEYS).fill(401), 429, 429]);
  assertEquals((await assertRejects(() => ask({}, wrongKeys), HttpError)).status, 401);
  assertEquals((await ask({ authorization: `Bearer ${TOKEN}` }, wrongKeys)).isAdministrator, true);
  assertEquals((await ask({ "x-api-key": KEY }, wrongKeys)).isAdministrator, false);
});
