import { assert, assertEquals } from "@std/assert";
import {
  appNameProblem,
  descriptionProblem,
  hostProblem,
  keyNameProblem,
  upstreamProblem,
} from "./applications.ts";

type Judge = (text: string) => string | undefined;

function assertTaken(judge: Judge, texts: readonly string[]): void {
  for (const text of texts) assertEquals(judge(text), undefined, JSON.stringify(text));
}

/** Every refusal is the end of a sentence, without a period. */
function assertRefused(judge: Judge, texts: readonly string[]): void {
  for (const text of texts) {
    const problem = judge(text);
    assert(problem !== undefined && /^[a-z].*[^.]$/.test(problem), JSON.stringify([text, problem]));
  }
}

Deno.test("An application's name is a plain segment of a path", () => {
  assertTaken(appNameProblem, ["a", "0", "My-App_1.2", "x".repeat(64), "a..b"]);
  assertRefused(appNameProblem, [
    "",
    ".",
    "..",
    ".a",
    "-a",
    "_a",
    "a/b",
    "a b",
    "a%2f",
    "ä",
    "a\n",
  ]);
  assertRefused(appNameProblem, ["x".repeat(65), "a\0", "a?", "a#", "a:b", "__proto__"]);
});

Deno.test("An upstream is an origin, as people write it", () => {
  assertTaken(upstreamProblem, [
    "http://127.0.0.1:3000",
    "http://127.0.0.1:3000/",
    "https://app.internal",
    "HTTP://Host:1",
    "http://[::1]:8080",
    "http://localhost",
  ]);
  assertRefused(upstreamProblem, [
    "",
    "127.0.0.1:3000",
    "localhost",
    "ftp://host",
    "ws://host",
    "file:///etc/passwd",
    "http:host",
    "http:/host",
    "http:///host",
    "http://",
    "http://user@host",
    "http://user:pass@host",
    "http://@host",
    "http://host/path",
    "http://host/..",
    "http://host//",
    "http://host?",
    "http://host?a=b",
    "http://host#",
    "http://host/#a",
    "http://host\\path",
    "http://host:99999",
    "http://host:port",
    "http://ho st",
    " http://host",
    "http://host\n",
    "http://[::1",
    "javascript:alert(1)",
    `http://${"a.".repeat(1100)}a`,
  ]);
});

Deno.test("A host name is a name in lower case, without a port, and no address", () => {
  const long = [63, 63, 63, 61].map((length) => "a".repeat(length)).join(".");
  assertTaken(hostProblem, [
    "localhost",
    "app.example.com",
    "xn--bcher-kva.example",
    "1.a",
    "a-b.c",
  ]);
  assertEquals(long.length, 253);
  assertTaken(hostProblem, [long, "4chan.org", "a.b3", "3com.example"]);
  assertRefused(hostProblem, [
    "",
    ".",
    "a.",
    ".a",
    "a..b",
    "A.example",
    "a.example:80",
    "127.0.0.1",
    "1",
    "0x7f.1",
    "a.0x7f",
    "a.1",
    "[::1]",
    "::1",
    "-a.b",
    "a-.b",
    "a_b.c",
    "bücher.example",
    "a b",
    "a/b",
    "*.example.com",
    "a\0",
    "a\n",
    `${"a".repeat(64)}.b`,
    `${long}a`,
  ]);
});

Deno.test("A key's name is one line that can be read", () => {
  assertTaken(keyNameProblem, ["a", "Büro 3", "😀".repeat(128), "x".repeat(128), " a "]);
  assertRefused(keyNameProblem, ["", " ", "\u3000", "a\nb", "a\0", "a\x7f", "a\x85", "\ud800"]);
  assertRefused(keyNameProblem, ["x".repeat(129), "😀".repeat(129)]);
});

Deno.test("A description may be empty and have lines", () => {
  assertTaken(descriptionProblem, ["", "a\nb\n", "😀".repeat(1024)]);
  assertRefused(descriptionProblem, ["a\rb", "a\tb", "\0", "\x9f", "\udc00", "x".repeat(1025)]);
});
