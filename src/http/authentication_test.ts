import { assertEquals, assertRejects } from "@std/assert";
import { Rights } from "../rules/rights.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import {
  type AuthContext,
  authenticateCaller,
  authenticateForProject,
  type Caller,
  reauthenticate,
} from "./authentication.ts";
import { HttpError } from "./http_error.ts";
import { csrfOf } from "./network/request_secrets.ts";
import { MAX_WRONG_KEYS, WrongKeyLimiter } from "./network/wrong_keys.ts";
import { someContext } from "./test_support.ts";

const KEY = "p_secret";
const TOKEN = "token-of-the-administrator";

const administrator = {
  actor: "admin",
  hasHash: (hash: string) => Promise.resolve(hash === hashSecret(TOKEN)),
};

const FOUND = { project: "p", prefix: "sec", rights: Rights.all, deleting: [] };

const recordOf = (secret: string) => ({
  id: `of ${secret}`,
  owner: { hash: hashSecret(secret) },
  created: 0,
  lastUsed: 0,
  expires: Infinity,
  address: "192.0.2.1",
  browser: "curl",
});

const isStillValid = () => Promise.resolve(true);

/** The sessions with the key and with the token, by the hashes of their own tokens. */
const SESSIONS = new Map([
  [hashSecret("k"), { record: recordOf(KEY), key: FOUND }],
  [hashSecret("a"), { record: recordOf(TOKEN) }],
]);

/** Knows one key, and collects the hashes that are looked up. */
function authContext(
  lookups: string[] = [],
  wrongKeys = new WrongKeyLimiter(),
): AuthContext {
  const find = (hash: string) => {
    lookups.push(hash);
    return Promise.resolve(hash === hashSecret(KEY) ? FOUND : undefined);
  };
  const signIns = {
    isStillValid,
    find: (hash: string) => {
      const found = SESSIONS.get(hash);
      return Promise.resolve(found === undefined ? undefined : { hash, ...found });
    },
  };
  return {
    administrator,
    store: { keys: { find, isStillValid }, signIns },
    wrongKeys,
    address: () => "192.0.2.1",
    context: someContext(),
  };
}

function requireKey(
  key: string | undefined,
  auth: AuthContext,
  project = "p",
): Promise<Caller> {
  const headers = new Headers(key === undefined ? {} : { "x-api-key": key });
  return authenticateForProject(headers, project, auth);
}

function authenticate(
  headers: Record<string, string>,
  wrongKeys?: WrongKeyLimiter,
): Promise<Caller> {
  return authenticateCaller(new Headers(headers), authContext([], wrongKeys));
}

Deno.test("a key gives access to its own project, in a header of any case", async () => {
  for (const name of ["X-Api-Key", "x-api-key", "X-API-KEY"]) {
    await authenticateForProject(new Headers({ [name]: KEY }), "p", authContext());
  }
});

Deno.test("an unknown key is 401, one of another project 403", async () => {
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
    const check = () => authenticateForProject(new Headers(headers), project, authContext());
    const error = await assertRejects(check, HttpError);
    assertEquals(error.status, status, about);
    assertEquals("WWW-Authenticate" in error.headers, status === 401, about);
    assertEquals(error.message.includes("secret"), false, about);
  }
});

Deno.test("only the hash of a key is looked up, and an overlong key is not", async () => {
  const lookups: string[] = [];
  await requireKey(KEY, authContext(lookups));
  assertEquals(lookups, [hashSecret(KEY)]);
  const longest = "x".repeat(MAX_KEY_HEADER);
  await assertRejects(() => requireKey(longest, authContext(lookups)), HttpError);
  assertEquals(lookups, [hashSecret(KEY), hashSecret(longest)]);
  const long = `${longest}x`;
  await assertRejects(() => requireKey(long, authContext(lookups)), HttpError);
  assertEquals(lookups.length, 2);
});

Deno.test("after twenty wrong keys of a network the next one is 429, and a correct one is accepted", async () => {
  const auth = authContext();
  const statusOf = async (key: string | undefined, from = auth) =>
    (await assertRejects(() => requireKey(key, from), HttpError)).status;
  for (let i = 0; i < MAX_WRONG_KEYS; i++) assertEquals(await statusOf(`p_${i}`), 401);
  const { status, headers, message } = await assertRejects(
    () => requireKey("p_wrong", auth),
    HttpError,
  );
  assertEquals([status, Number(headers["Retry-After"]) >= 20], [429, true]);
  assertEquals(message.includes("p_wrong"), false);
  assertEquals(await statusOf("x".repeat(MAX_KEY_HEADER + 1)), 429);
  assertEquals(await statusOf(undefined), 401);
  assertEquals(await statusOf("p_wrong", { ...auth, address: () => "192.0.3.2" }), 401);
  await requireKey(KEY, auth);
});

Deno.test("a missing key and one of another project do not count as wrong", async () => {
  const auth = authContext();
  for (let i = 0; i <= MAX_WRONG_KEYS; i++) {
    await assertRejects(() => requireKey(undefined, auth), HttpError);
    await assertRejects(() => requireKey(KEY, auth, "q"), HttpError);
  }
  assertEquals(auth.wrongKeys.record(auth.address()), undefined);
});

Deno.test("the administrator's token is read from Authorization, with a scheme of any case", async () => {
  for (const scheme of ["Bearer ", "bearer ", "BEARER   "]) {
    assertEquals(await authenticate({ authorization: scheme + TOKEN }), {
      isAdministrator: true,
      rights: Rights.all,
      hash: hashSecret(TOKEN),
    });
  }
});

Deno.test("a project key identifies its owner, unless there is a bearer token", async () => {
  const owner = { isAdministrator: false, project: "p", rights: Rights.all, hash: hashSecret(KEY) };
  assertEquals(await authenticate({ "x-api-key": KEY }), owner);
  for (const none of ["", "Bearer", "Bearer ", `Basic ${TOKEN}`, TOKEN]) {
    assertEquals(await authenticate({ "x-api-key": KEY, authorization: none }), owner, none);
  }
  const both = { "x-api-key": "p_wrong", authorization: `Bearer ${TOKEN}` };
  assertEquals((await authenticate(both)).isAdministrator, true);
});

Deno.test("unknown credentials are 401, and the error contains nothing that was sent", async () => {
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
    const error = await assertRejects(() => authenticate(headers), HttpError);
    assertEquals([error.status, "WWW-Authenticate" in error.headers], [401, true]);
    for (const secret of ["wrong", TOKEN, "secret"]) {
      assertEquals(error.message.includes(secret), false, error.message);
    }
  }
});

Deno.test("wrong tokens and wrong keys count together, and correct ones are accepted", async () => {
  const wrongKeys = new WrongKeyLimiter();
  const wrong = [{ authorization: "Bearer wrong" }, { "x-api-key": "p_wrong" }];
  const statuses: number[] = [];
  for (let i = 0; i < MAX_WRONG_KEYS + 2; i++) {
    const error = await assertRejects(() => authenticate(wrong[i % 2] ?? {}, wrongKeys), HttpError);
    statuses.push(error.status);
  }
  assertEquals(statuses, [...Array<number>(MAX_WRONG_KEYS).fill(401), 429, 429]);
  assertEquals((await assertRejects(() => authenticate({}, wrongKeys), HttpError)).status, 401);
  const administrator = await authenticate({ authorization: `Bearer ${TOKEN}` }, wrongKeys);
  assertEquals(administrator.isAdministrator, true);
  assertEquals((await authenticate({ "x-api-key": KEY }, wrongKeys)).isAdministrator, false);
});

/** Checks credentials again. @param valid Which of them are still valid. */
async function checkAgain(
  headers: Record<string, string>,
  valid: { key?: boolean; session?: boolean; token?: boolean },
): Promise<unknown[]> {
  const checked: unknown[] = [];
  const { key = true, session = true, token = true } = valid;
  const answer = (isValid: boolean) => (...asked: (string | number)[]) => {
    checked.push(asked.map((one) => typeof one === "number" ? one >= 0 : one));
    return Promise.resolve(isValid);
  };
  const caller = await authenticate(headers);
  const { keys, signIns } = authContext().store;
  await reauthenticate(caller, {
    store: {
      keys: { ...keys, isStillValid: answer(key) },
      signIns: { ...signIns, isStillValid: answer(session) },
    },
    administrator: { actor: "admin", hasHash: answer(token) },
    context: someContext(),
  });
  return checked;
}

/** The headers of a request with the session of a token. */
function withSession(token: string): Record<string, string> {
  return { cookie: `a=b; kvdrive_dashboard=${token}`, "x-kvdrive-session": csrfOf(token) };
}

Deno.test("credentials that were revoked during the request are 401", async () => {
  const [byKey, byToken] = [{ "x-api-key": KEY }, { authorization: `Bearer ${TOKEN}` }];
  const ofKey = [hashSecret(KEY), "p", true];
  assertEquals(await checkAgain(byKey, { session: false, token: false }), [ofKey]);
  assertEquals(await checkAgain(byToken, { session: false, key: false }), [[hashSecret(TOKEN)]]);
  const ofSession = [hashSecret("k"), true];
  assertEquals(await checkAgain(withSession("k"), { token: false }), [ofSession, ofKey]);
  const refused = [
    [byKey, { key: false }],
    [byToken, { token: false }],
    [withSession("k"), { key: false }],
    [withSession("k"), { session: false }],
    [withSession("a"), { token: false }],
    [withSession("a"), { session: false }],
  ] as const;
  for (const [headers, valid] of refused) {
    const error = await assertRejects(() => checkAgain(headers, valid), HttpError);
    assertEquals(error.status, 401, JSON.stringify([headers, valid]));
  }
});

Deno.test("a cookie counts with the header that belongs to it, and without any other credentials", async () => {
  const owner = { isAdministrator: false, project: "p", rights: Rights.all, hash: hashSecret(KEY) };
  const session = { hash: hashSecret("k"), id: `of ${KEY}` };
  assertEquals(await authenticate(withSession("k")), { ...owner, session });
  assertEquals((await authenticate(withSession("a"))).isAdministrator, true);
  const bound = { ...withSession("k"), cookie: "__Host-kvdrive_dashboard=k" };
  assertEquals((await authenticate(bound)).hash, owner.hash);
  const several = { ...withSession("k"), cookie: "kvdrive_dashboard=a; kvdrive_dashboard=k" };
  assertEquals((await authenticate(several)).hash, owner.hash);
  assertEquals(await authenticate({ ...withSession("a"), "x-api-key": KEY }), owner);
  const wrong = { ...withSession("a"), authorization: "Bearer wrong" };
  assertEquals((await assertRejects(() => authenticate(wrong), HttpError)).status, 401);
});

Deno.test("a cookie without its header is a missing key, and no wrong one", async () => {
  const wrongKeys = new WrongKeyLimiter();
  const cookie = "kvdrive_dashboard=k";
  const cases: Record<string, string>[] = [
    { cookie },
    { cookie, "x-kvdrive-session": "" },
    { cookie, "x-kvdrive-session": csrfOf("a") },
    { cookie, "x-kvdrive-session": csrfOf("k").toUpperCase() },
    { "x-kvdrive-session": csrfOf("k") },
    { cookie: "kvdrive_dashboards=k", "x-kvdrive-session": csrfOf("k") },
    { cookie: "kvdrive_session=k", "x-kvdrive-session": csrfOf("k") },
    { cookie: 'kvdrive_dashboard="k"', "x-kvdrive-session": csrfOf("k") },
  ];
  for (const headers of cases) {
    for (let i = 0; i < MAX_WRONG_KEYS; i++) {
      const error = await assertRejects(() => authenticate(headers, wrongKeys), HttpError);
      assertEquals([error.status, error.message.includes("are missing")], [401, true]);
    }
  }
  const ended = await assertRejects(() => authenticate(withSession("x"), wrongKeys), HttpError);
  assertEquals([ended.status, ended.message.includes("has ended")], [401, true]);
  assertEquals(wrongKeys.record("192.0.2.1"), undefined);
});
