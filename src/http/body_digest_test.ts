import { assertEquals, assertThrows } from "@std/assert";
import { assertDigest, expectedDigest, formatDigest } from "./body.ts";
import { HttpError } from "./http_error.ts";

/** The SHA-256 of nothing, and of "abc". */
const EMPTY = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const ABC = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

function read(header: string): string | undefined {
  return expectedDigest(new Headers({ "content-digest": header }));
}

Deno.test("The SHA-256 is read from the header, among other algorithms too", () => {
  const cases = [
    [`sha-256=:${EMPTY}:`, EMPTY],
    [`  sha-256=:${ABC}:  `, ABC],
    [`sha-512=:AAAA:, sha-256=:${ABC}:`, ABC],
    [`sha-256=:${ABC}:,md5=:AAAA:`, ABC],
    [`sha-256=:${EMPTY}:, sha-256=:${ABC}:`, ABC],
    ["sha-512=:AAAA:", undefined],
    ["md5=:AAAA==:, unixsum=::", undefined],
    ["sha-2560=:AAAA:", undefined],
  ] as const;
  for (const [header, digest] of cases) assertEquals(read(header), digest, header);
  assertEquals(expectedDigest(new Headers()), undefined);
});

Deno.test("A header that is not well formed is refused", () => {
  const headers = [
    "",
    ",",
    "sha-256",
    "sha-256=",
    "sha-256=::",
    `sha-256=${ABC}`,
    `sha-256="${ABC}"`,
    `sha-256 = :${ABC}:`,
    `sha-256=:${ABC}`,
    `sha-256=:${ABC.slice(0, -1)}:`,
    `sha-256=:${ABC.slice(1)}:`,
    `sha-256=:A${ABC}:`,
    `sha-256=:${"_".repeat(43)}=:`,
    `sha-256=: ${ABC}:`,
    `sha-256=:${ABC}:,`,
    `sha-256=:${ABC}:, nonsense`,
    `SHA-256=:${ABC}:`,
    "sha-512=AAAA",
    "=:AAAA:",
  ];
  for (const header of headers) {
    const error = assertThrows(() => read(header), HttpError, "The Content-Digest header must be");
    assertEquals(error.status, 400, header);
  }
});

Deno.test("A body must have the digest that was named, if one was", () => {
  assertDigest(undefined, ABC);
  assertDigest(ABC, ABC);
  for (const other of [EMPTY, ABC.toLowerCase(), ""]) {
    const error = assertThrows(() => assertDigest(ABC, other), HttpError, "SHA-256");
    assertEquals(error.status, 400);
  }
});

Deno.test("A digest that is formatted can be read again", () => {
  assertEquals(formatDigest(ABC), `sha-256=:${ABC}:`);
  assertEquals(read(formatDigest(EMPTY)), EMPTY);
});
