import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../support/answer.ts";
import { type Drive, send } from "../support/drive.ts";
import { PROJECT_ID } from "../support/server.ts";
import { suite } from "../support/suite.ts";

const any = suite("Browsers of any origin may call /v1");

const ORIGIN = "https://app.example";

// What a page has to be allowed to send for everything that the contract offers.
const NEEDED_HEADERS = [
  "X-Api-Key",
  "Content-Type",
  "Range",
  "If-Match",
  "If-None-Match",
  "If-Range",
  "Content-Digest",
  "X-Request-Id",
];

const EXPOSED = [
  "ETag",
  "Content-Range",
  "Content-Length",
  "Accept-Ranges",
  "Last-Modified",
  "X-Request-Id",
];

const PREFLIGHTS: [string, string][] = [
  ["", "GET"],
  ["/d/files", "GET"],
  ["/d/files", "POST"],
  ["/d/files", "DELETE"],
  ["/d/files/download", "GET"],
  ["/d/uploads", "POST"],
  ["/d/uploads/id", "PATCH"],
  ["/d/uploads/id", "DELETE"],
  ["/d/uploads/id/parts", "POST"],
];

for (const [path, method] of PREFLIGHTS) {
  any(`A preflight for ${method} ${path || "/"} is 204 without a key.`, async (drive) => {
    const answer = (await preflight(drive, path, method, ORIGIN)).expect(204);
    assertEquals(answer.bytes.length, 0);
    assertOpenTo(answer, ORIGIN);
    assertLists(answer, "Access-Control-Allow-Methods", [method]);
    assertLists(answer, "Access-Control-Allow-Headers", NEEDED_HEADERS);
  });
}

any("Every answer to a page may be read by it, errors too.", async (drive) => {
  await drive.put("a", "x");
  const calls: [string, string, string | null | undefined, number][] = [
    ["GET", "/files", undefined, 200],
    ["GET", "/files/download?name=a", undefined, 200],
    ["POST", "/files?name=b", undefined, 201],
    ["GET", "/files?limit=0", undefined, 400],
    ["GET", "/files", null, 401],
    ["GET", "/files/download?name=missing", undefined, 404],
    ["PUT", "/files", undefined, 405],
  ];
  for (const [method, path, key, status] of calls) {
    const headers = { Origin: ORIGIN };
    const answer = await drive.send(
      method,
      path,
      key === undefined ? { headers } : { headers, key },
    );
    assertOpenTo(answer.expect(status), ORIGIN);
    assertLists(answer, "Access-Control-Expose-Headers", EXPOSED);
  }
});

any("A partial, an unchanged and an unsatisfiable answer may be read, too.", async (drive) => {
  await drive.put("a", "abc");
  const etag = await drive.etag("a");
  const calls: [Record<string, string>, number][] = [
    [{ Range: "bytes=0-1" }, 206],
    [{ "If-None-Match": etag }, 304],
    [{ "If-Match": `"another"` }, 412],
    [{ Range: "bytes=9-" }, 416],
  ];
  for (const [headers, status] of calls) {
    const answer = (await drive.get("a", { ...headers, Origin: ORIGIN })).expect(status);
    assertOpenTo(answer, ORIGIN);
    assertLists(answer, "Access-Control-Expose-Headers", EXPOSED);
  }
});

const narrowed = suite("Browsers of other origins than --cors-origin may not call", {
  args: ["--cors-origin", ORIGIN],
});

narrowed("The origin that was named may call.", async (drive) => {
  assertOpenTo((await preflight(drive, "/d/files", "POST", ORIGIN)).expect(204), ORIGIN);
  const answer = await drive.send("GET", "/files", { headers: { Origin: ORIGIN } });
  assertOpenTo(answer.expect(200), ORIGIN);
});

for (
  const origin of [
    "https://other.example",
    "http://app.example",
    "https://app.example:8443",
    "https://app.example.evil.example",
    "https://sub.app.example",
    "null",
  ]
) {
  narrowed(`The origin ${origin} may not call.`, async (drive) => {
    const answers = [
      await preflight(drive, "/d/files", "POST", origin),
      await drive.send("GET", "/files", { headers: { Origin: origin } }),
      await drive.send("GET", "/files", { headers: { Origin: origin }, key: null }),
    ];
    for (const answer of answers) {
      const allowed = answer.headers.get("Access-Control-Allow-Origin");
      assert(allowed === null || allowed === ORIGIN, allowed ?? "");
    }
  });
}

narrowed("A request that no page sent is answered as ever.", async (drive) => {
  await drive.put("a", "x");
  assertEquals(await drive.text("a"), "x");
});

async function preflight(
  { server }: Drive,
  path: string,
  method: string,
  origin: string,
): Promise<Answer> {
  return await send(server, "OPTIONS", `/v1/${PROJECT_ID}${path}`, {
    key: null,
    headers: {
      "Origin": origin,
      "Access-Control-Request-Method": method,
      "Access-Control-Request-Headers": NEEDED_HEADERS.join(",").toLowerCase(),
    },
  });
}

// "without credentials"
function assertOpenTo(answer: Answer, origin: string): void {
  const allowed = answer.header("Access-Control-Allow-Origin");
  assert(allowed === "*" || allowed === origin, allowed);
  assertEquals(answer.headers.get("Access-Control-Allow-Credentials"), null);
}

function assertLists(answer: Answer, header: string, needed: readonly string[]): void {
  const listed = answer.header(header).toLowerCase().split(",").map((one) => one.trim());
  for (const one of needed) assert(listed.includes(one.toLowerCase()), `${one} not in ${header}`);
}
