import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { type Drive, send } from "../support/drive.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { PROJECT_ID } from "../support/server.ts";
import { suite } from "../support/suite.ts";

const test = suite("Every answer carries X-Request-Id");

const SANE = /^[\w.:+/=-]{4,200}$/;

const CALLS: [string, string, string | null | undefined, number][] = [
  ["POST", "/files?name=a", undefined, 201],
  ["GET", "/files", undefined, 200],
  ["HEAD", "/files", undefined, 200],
  ["GET", "/files/download?name=there", undefined, 200],
  ["OPTIONS", "/files", null, 204],
  ["POST", "/uploads?name=a", undefined, 202],
  ["GET", "/files?limit=0", undefined, 400],
  ["GET", "/files", null, 401],
  ["GET", "/files/download?name=missing", undefined, 404],
  ["GET", "/nothing", undefined, 404],
  ["PUT", "/files", undefined, 405],
];

async function call(
  drive: Drive,
  [method, path, key]: (typeof CALLS)[number],
  headers: Record<string, string>,
): Promise<[number, string]> {
  const target = `/v1/${PROJECT_ID}/${drive.name}${path}`;
  const options = key === undefined ? { headers } : { headers, key };
  const answer = await send(drive.server, method, target, options);
  return [answer.status, answer.header("X-Request-Id")];
}

for (const one of CALLS) {
  const [method, path, , status] = one;

  test(`${method} ${path} (${status}) answers the caller's id, or one of its own.`, async (drive) => {
    await drive.put("there", "x");
    const sent = "9f1c2d3e-aaaa-4bbb-8ccc-0123456789ab";
    assertEquals(await call(drive, one, { "X-Request-Id": sent }), [status, sent]);
    const [, first] = await call(drive, one, {});
    const [, second] = await call(drive, one, {});
    assertMatch(first, SANE);
    assertNotEquals(first, second);
  });
}

const SANE_IDS = ["abc123", "req-1_a.b", "01ARZ3NDEKTSV4RRFFQ69G5FAV"];

test("A sane id of the caller is given back.", async (drive) => {
  for (const id of SANE_IDS) {
    const answer = await drive.send("GET", "/files", { headers: { "X-Request-Id": id } });
    assertEquals(answer.expect(200).header("X-Request-Id"), id);
  }
});

test("An id that could harm a log is replaced.", async (drive) => {
  const ids = [
    "",
    " ",
    "<script>alert(1)</script>",
    "a b",
    "x".repeat(1_000),
    "a\tb",
    '"',
    "é",
    "{}",
  ];
  for (const id of ids) {
    const target = `/v1/${PROJECT_ID}/${drive.name}/files`;
    const request = rawRequest("GET", target, { "X-Request-Id": id });
    const answer = (await sendRaw(drive.server.port, request)).expect(200);
    assertMatch(answer.header("X-Request-Id"), SANE);
    assertNotEquals(answer.header("X-Request-Id"), id);
  }
});
