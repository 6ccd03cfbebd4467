import { assert, assertEquals } from "@std/assert";
import {
  ADMIN_TOKEN,
  administer,
  ADMINISTERED,
  administrator,
  type Caller,
  PROJECTS,
  withKey,
} from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";

/** "After 20 wrong keys or tokens from one network" */
const MOST = 20;

const FILES = `/v1/${PROJECT_ID}/drive/files`;

const WRONG: [string, string, Caller][] = [
  ["GET", FILES, withKey(`${PROJECT_ID}_wrong`)],
  ["GET", PROJECTS, { Authorization: "Bearer wrong" }],
  ["POST", `${FILES}?name=a`, withKey("x".repeat(5000))],
  ["GET", `${PROJECTS}/${PROJECT_ID}`, withKey("a_b")],
];

/** One wrong key after the other, of every kind; gives the answers. */
async function sendWrong(server: TestServer, times: number, more: Caller = {}): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < times; i++) {
    const [method, path, as] = WRONG[i % WRONG.length] ?? ["GET", FILES, {}];
    answers.push(await administer(server, method, path, { as: { ...as, ...more } }));
  }
  return answers;
}

function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status);
}

const UNTRUSTING = { env: { ...ADMINISTERED.env, KVDRIVE_TRUSTED_PROXY: "" } };

Deno.test("After twenty wrong keys the next one gets 429, and a right one passes.", async () => {
  await using server = await TestServer.start(UNTRUSTING);
  assertEquals(statusesOf(await sendWrong(server, MOST)), Array(MOST).fill(401));
  for (const answer of await sendWrong(server, 2 * WRONG.length)) {
    assertErrorAnswer(answer.expect(429));
    const wait = Number(answer.header("Retry-After"));
    assert(Number.isInteger(wait) && wait >= 1 && wait <= 60, `${wait}`);
    assert(!answer.text.includes('wrong"'), answer.text);
  }
  const right: [string, Caller][] = [
    [FILES, withKey(PROJECT_KEY)],
    [PROJECTS, administrator],
    [`${PROJECTS}/${PROJECT_ID}`, withKey(PROJECT_KEY)],
  ];
  for (const [path, as] of right) (await administer(server, "GET", path, { as })).expect(200);
  (await sendWrong(server, 1)).forEach((answer) => answer.expect(429));
  // What is no key at all is not wrong, and what is another project's is not either.
  (await administer(server, "GET", FILES, { as: {} })).expect(401);
  (await administer(server, "GET", "/v1/other", { as: withKey(PROJECT_KEY) })).expect(403);
});

Deno.test("Requests without a key or with a key of another project are never delayed.", async () => {
  await using server = await TestServer.start(UNTRUSTING);
  for (let i = 0; i < MOST + 5; i++) {
    (await administer(server, "GET", FILES, { as: {} })).expect(401);
    (await administer(server, "GET", PROJECTS, { as: {} })).expect(401);
    (await administer(server, "GET", "/v1/other", { as: withKey(PROJECT_KEY) })).expect(403);
  }
  assertEquals(statusesOf(await sendWrong(server, 1)), [401]);
});

Deno.test("X-Forwarded-For is ignored unless a proxy is trusted.", async () => {
  await using server = await TestServer.start(UNTRUSTING);
  const statuses: number[] = [];
  for (let i = 0; i < MOST + 5; i++) {
    const headers = { "X-Forwarded-For": `192.0.2.${i}`, "Forwarded": `for=192.0.2.${i}` };
    statuses.push(...statusesOf(await sendWrong(server, 1, headers)));
  }
  assertEquals(statuses, [...Array(MOST).fill(401), ...Array(5).fill(429)]);
});

Deno.test("Behind a trusted proxy each network counts alone, by the address that the proxy saw.", async () => {
  const args = ["--trusted-proxy", "127.0.0.0/8, ::1, 10.0.0.0/8"];
  await using server = await TestServer.start({ ...ADMINISTERED, args });
  const from = (list: string) => ({ "X-Forwarded-For": list });
  const all = statusesOf(await sendWrong(server, MOST, from("192.0.2.1")));
  assertEquals(all, Array(MOST).fill(401));
  const cases: [string, number][] = [
    ["192.0.2.1", 429],
    ["192.0.2.1:4711", 429],
    // What a caller wrote itself stands before what the proxy wrote.
    ["203.0.113.7, 192.0.2.1", 429],
    ["203.0.113.7, 192.0.2.1, 10.9.9.9", 429],
    // Another address of the same network.
    ["192.0.2.2", 429],
    ["192.0.2.1, 203.0.113.7", 401],
    ["192.0.3.2", 401],
    ["", 401],
  ];
  for (const [list, status] of cases) {
    assertEquals([list, ...statusesOf(await sendWrong(server, 1, from(list)))], [list, status]);
  }
});

Deno.test("Addresses of one IPv6 network count together.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const statuses: number[] = [];
  for (let i = 0; i < MOST + 2; i++) {
    const headers = { "X-Forwarded-For": `2001:db8:1:2:${i}::${i}` };
    statuses.push(...statusesOf(await sendWrong(server, 1, headers)));
  }
  assertEquals(statuses, [...Array(MOST).fill(401), 429, 429]);
  const elsewhere = { "X-Forwarded-For": "2001:db8:1:3::1" };
  assertEquals(statusesOf(await sendWrong(server, 1, elsewhere)), [401]);
});

Deno.test("The server's output has none of the keys, right or wrong.", async () => {
  await using server = await TestServer.start(UNTRUSTING);
  await sendWrong(server, MOST + 5);
  (await administer(server, "GET", PROJECTS)).expect(200);
  assertEquals((await server.stop()).code, 0);
  for (const secret of ["wrong", "xxxx", ADMIN_TOKEN, PROJECT_KEY]) {
    assert(!server.text.includes(secret), server.text);
  }
});
