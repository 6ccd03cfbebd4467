import { assert, assertEquals, assertMatch } from "@std/assert";
import { TestServer } from "../server.ts";
import { checkExchange, type Exchange, isJson } from "./checks.ts";
import { Description } from "./description.ts";

const FILES = "/v1/test-project/d/files";

/** The server's answer to `GET /files`. */
function listing(changes: Partial<Omit<Exchange, "headers" | "body">> & {
  headers?: Record<string, string | undefined>;
  body?: unknown;
} = {}): Exchange {
  const { headers, body = { names: ["a"] }, ...rest } = changes;
  const all = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Request-Id": "id",
    "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
    ...headers,
  };
  const kept = Object.entries(all).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]]
  );
  const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
  return {
    method: "GET",
    target: `${FILES}?limit=1`,
    status: 200,
    headers: new Headers(kept),
    body: bytes,
    ...rest,
  };
}

const ERROR = { errors: ["A sentence"], code: "file_not_found" };

/** A difference from a correct answer, and the problem that is reported. */
const WRONG: [string, Exchange, RegExp][] = [
  ["a status that is not described", listing({ status: 201 }), /this status is not described/],
  ["a field that is not described", listing({ body: { names: [], more: 1 } }), /"more"/],
  ["a field that is missing", listing({ body: {} }), /names/],
  ["a field of another type", listing({ body: { names: [1] } }), /names\/0 must be string/],
  ["a body that is not JSON", listing({ body: "{" }), /the body is not JSON/],
  [
    "another content type",
    listing({ headers: { "Content-Type": "text/html" } }),
    /content type text\/html/,
  ],
  ["a header that is not described", listing({ headers: { "X-Powered-By": "x" } }), /x-powered-by/],
  ["a header that is missing", listing({ headers: { "X-Request-Id": undefined } }), /X-Request-Id/],
  [
    "a header of another value",
    listing({ headers: { "Cache-Control": "public" } }),
    /Cache-Control: public/,
  ],
  ["an error of another form", listing({ status: 400, body: { ...ERROR, errors: "x" } }), /errors/],
  [
    "an error without a sentence",
    listing({ status: 400, body: { ...ERROR, errors: [] } }),
    /fewer than 1/,
  ],
  [
    "503 without Retry-After",
    listing({ status: 503, body: ERROR }),
    /the header Retry-After is missing/,
  ],
  [
    "405 without Allow",
    listing({ method: "PUT", status: 405, body: ERROR }),
    /the header Allow is missing/,
  ],
  [
    "another status for a method that is not described",
    listing({ method: "PUT", status: 200 }),
    /not described/,
  ],
  [
    "another status for a path that is not described",
    listing({ target: "/v1/p/d/e/f/g" }),
    /not described/,
  ],
  ["a body in an answer to HEAD", listing({ method: "HEAD" }), /a body, where none is described/],
];

/** Answers as they are described. */
const RIGHT: [string, Exchange][] = [
  ["GET /v1/{project_id}/{drive_name}/files 200", listing()],
  ["GET /v1/{project_id}/{drive_name}/files 400", listing({ status: 400, body: ERROR })],
  ["HEAD /v1/{project_id}/{drive_name}/files 200", listing({ method: "HEAD", body: "" })],
  ["(any other method) (any other path) 404", listing({ target: "/v2", status: 404, body: ERROR })],
  [
    "(any other method) /v1/{project_id}/{drive_name}/files 405",
    listing({ method: "get", status: 405, body: ERROR, headers: { Allow: "GET, HEAD" } }),
  ],
  ["(any other method) (any other path) 404", listing({ target: "*", status: 404, body: ERROR })],
  [
    "(any other method) (any other path) 405",
    listing({ target: "x:1", status: 405, body: ERROR, headers: { Allow: "GET, HEAD" } }),
  ],
  ["GET /v1/{project_id} 200", listing({ target: "http://x/v1/p", body: drives() })],
];

function drives(): unknown {
  return { project_id: "p", drives: [{ drive_name: "d", files: 1, bytes: 2 }] };
}

Deno.test("An answer is judged by the server's description of itself.", async (t) => {
  await using server = await TestServer.start();
  const document = await (await fetch(`${server.origin}/openapi.json`)).json();
  const description = new Description(document);
  for (const [what, exchange, says] of WRONG) {
    await t.step(`${what} is found`, () => {
      const { problems } = checkExchange(description, exchange);
      assertEquals(problems.length, 1, problems.join("\n"));
      assertMatch(problems[0] ?? "", says);
    });
  }
  for (const [pair, exchange] of RIGHT) {
    await t.step(`${pair} is right`, () => {
      assertEquals(checkExchange(description, exchange), { pair, problems: [] });
    });
  }
  await t.step("A download may be anything, and is not taken for an answer in JSON", () => {
    const download = listing({ target: `${FILES}/download?name=a.json` });
    assertEquals(isJson(description, download), false);
    assertEquals(isJson(description, { ...download, status: 404 }), true);
  });
  await t.step("Every described pair is named, and has its status at the end", () => {
    const { pairs } = description;
    assert(pairs.length > 200 && pairs.every((pair) => /^[A-Z]+ \/\S* \d{3}$/.test(pair)));
  });
});
