import { assert, assertEquals, assertMatch } from "@std/assert";
import { Gate } from "../support/gate/gate.ts";
import { RawUpstream } from "../support/gate/upstream_raw.ts";

/** What browsers send when they navigate. */
const BROWSER = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

Deno.test("A browser that navigates gets an error of the gate as a page, a program as JSON.", async () => {
  await using silent = new RawUpstream(() => {});
  await using gate = await Gate.start({ env: { KVDRIVE_APPS_TIMEOUT: "1s" } });
  await gate.open("http://127.0.0.1:1", "dead");
  await gate.open(silent.origin, "slow");
  await gate.open(undefined, "none");
  const cases: [path: string, status: number, code: string, says: RegExp][] = [
    ["/", 404, "app_not_found", /<h1>There is no application here<\/h1>\n<p>An application has/],
    [
      `${gate.prefix("dead")}/`,
      502,
      "upstream_unreachable",
      /<h1>The application cannot be reached<\/h1>\n<p>Try again/,
    ],
    [
      `${gate.prefix("none")}/`,
      502,
      "upstream_missing",
      /<h1>The application has no upstream yet<\/h1>/,
    ],
    [
      `${gate.prefix("slow")}/`,
      504,
      "upstream_timeout",
      /<h1>The application did not answer in time<\/h1>/,
    ],
  ];
  for (const [path, status, code, says] of cases) {
    const page = await ask(gate, path, { headers: BROWSER });
    assertEquals(page.status, status);
    assertEquals(page.headers.get("content-type"), "text/html; charset=utf-8");
    assertMatch(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert(page.headers.has("x-request-id"));
    assertMatch(await page.text(), says);
    const programs: RequestInit[] = [{}, { method: "POST", headers: BROWSER }, {
      headers: { Accept: "application/json" },
    }];
    for (const program of programs) {
      const answer = await ask(gate, path, program);
      assertEquals([answer.status, answer.headers.get("content-type")], [
        status,
        "application/json",
      ]);
      const body = await answer.json() as { errors: string[]; code: string };
      assertEquals([body.errors.length, body.code], [1, code]);
    }
  }
});

async function ask(gate: Gate, path: string, init: RequestInit): Promise<Response> {
  return await fetch(gate.origin + path, { redirect: "manual", ...init });
}
