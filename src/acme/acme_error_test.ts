import { assertEquals } from "@std/assert";
import { parseRetryAfter, problemText } from "./acme_error.ts";

const DATE = "Sun, 22 Nov 2026 10:00:00 GMT";

Deno.test("Retry-After is seconds or a date, which is compared with the date of the answer", () => {
  const cases: [text: string | null, date: string | null, wanted: number | undefined][] = [
    [null, DATE, undefined],
    ["0", DATE, 0],
    ["120", DATE, 120_000],
    ["Sun, 22 Nov 2026 10:01:00 GMT", DATE, 60_000],
    ["Sunday, 22-Nov-26 10:01:00 GMT", DATE, 60_000],
    ["Sun, 22 Nov 2026 09:00:00 GMT", DATE, 0],
    ["tomorrow", DATE, undefined],
    ["-5", DATE, undefined],
    ["1.5", DATE, undefined],
    ["99999999999", DATE, undefined],
    ["", DATE, undefined],
  ];
  for (const [text, date, wanted] of cases) {
    assertEquals(parseRetryAfter(text, date), wanted, `${text}`);
  }
  const soon = new Date(Date.now() + 60_000).toUTCString();
  const wait = parseRetryAfter(soon, null) ?? 0;
  assertEquals(wait > 55_000 && wait <= 60_000, true);
});

Deno.test("A problem is one line of text, for every answer of the authority", () => {
  const type = "urn:ietf:params:acme:error:dns";
  assertEquals(problemText({ type, detail: "no A record" }), "no A record (dns)");
  assertEquals(
    problemText({ type, detail: "a\r\n2026 error: b\x1b[31m" }),
    "a 2026 error: b [31m (dns)",
  );
  assertEquals(problemText({ type }), "(dns)");
  assertEquals(problemText({ type: 5, detail: {} }), "it gave no reason");
  assertEquals(problemText({ detail: "x".repeat(10_000) }).length, 500);
});
