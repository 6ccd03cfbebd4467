import { assertEquals, assertMatch } from "@std/assert";
import {
  hostnameOf,
  hostProblem,
  HostRules,
  isSubdomain,
  isWithin,
  upstreamProblem,
} from "./hosts.ts";

type Check = (text: string) => string | undefined;

function assertValid(check: Check, texts: readonly string[]): void {
  for (const text of texts) assertEquals(check(text), undefined, JSON.stringify(text));
}

/** Every problem is the end of a sentence, without a period. */
function assertInvalid(check: Check, texts: readonly string[]): void {
  for (const text of texts) assertMatch(check(text) ?? "", /^[a-z].*[^.]$/, JSON.stringify(text));
}

Deno.test("An upstream is an origin", () => {
  assertValid(upstreamProblem, [
    "http://127.0.0.1:3000",
    "http://127.0.0.1:3000/",
    "https://app.internal",
    "HTTP://Host:1",
    "http://[::1]:8080",
    "http://localhost",
  ]);
  assertInvalid(upstreamProblem, [
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

Deno.test("A host name is in lower case, has no port and is no address", () => {
  const long = [63, 63, 63, 61].map((length) => "a".repeat(length)).join(".");
  assertValid(hostProblem, [
    "localhost",
    "app.example.com",
    "xn--bcher-kva.example",
    "1.a",
    "a-b.c",
  ]);
  assertEquals(long.length, 253);
  assertValid(hostProblem, [long, "4chan.org", "a.b3", "3com.example"]);
  assertInvalid(hostProblem, [
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

const rules = await HostRules.load({
  own: ["files.example.com"],
  gate: ["apps.example.com"],
  zones: ["acme.deno.net"],
});

Deno.test("The server's own names, addresses, localhost and public suffixes are never claimable", () => {
  const refused = [
    "files.example.com",
    "apps.example.com",
    "acme.deno.net",
    "x.acme.deno.net",
    "localhost",
    "com",
    "co.uk",
    "github.io",
    "deno.net",
    "foo.ck",
    "xn--p1ai",
    "xn--55qx5d.cn",
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "1.0x",
    "[::1]",
    "::1",
    "",
    ".",
    "a..example.com",
    "a.example.com.",
    ".example.com",
    "*.example.com",
    "a_b.example.com",
    "A.example.com",
    "bücher.example",
    "xn--a.example",
    "xn--bcher-KVA.example",
    "xn--example.example",
    "a.example.com:80",
    "a b.example",
  ];
  for (const name of refused) {
    assertEquals(typeof rules.problemOf(name), "string", name);
  }
});

Deno.test("Names below a public suffix, of one label and in other languages are claimable", () => {
  const names = [
    "example.com",
    "viewer.files.example.com",
    "evilfiles.example.com",
    "example.co.uk",
    "me.github.io",
    "www.ck",
    "nas",
    "app.localhost",
    "nas.lan",
    "xn--bcher-kva.example",
    "deno.network",
  ];
  for (const name of names) {
    assertEquals(rules.problemOf(name), undefined, name);
    assertEquals([rules.isClaimable(name), rules.isClaimable(name)], [true, true], name);
  }
  for (let i = 0; i < 3000; i++) assertEquals(rules.isClaimable(`${i}.example.com`), true);
  assertEquals([rules.isClaimable("com"), rules.isClaimable("com")], [false, false]);
});

Deno.test("The gate selects by path only under addresses, localhost and its own names", () => {
  for (const name of ["127.0.0.1", "[::1]", "[fe80::1]", "localhost", "apps.example.com"]) {
    assertEquals(rules.isGate(name), true, name);
  }
  for (
    const name of ["files.example.com", "a", "app.localhost", "127.1", "[::1", "::1", "[]", ""]
  ) {
    assertEquals(rules.isGate(name), false, name);
  }
});

Deno.test("A subdomain is separated from its domain by a dot", () => {
  assertEquals(isSubdomain("a.example.com", "example.com"), true);
  assertEquals(isSubdomain("a.b.example.com", "example.com"), true);
  for (const name of ["example.com", ".example.com", "aexample.com", "example.com.evil", ""]) {
    assertEquals(isSubdomain(name, "example.com"), false, name);
  }
});

Deno.test("A domain has itself and its subdomains", () => {
  for (const name of ["example.com", "a.example.com", "a.b.example.com"]) {
    assertEquals(isWithin(name, "example.com"), true, name);
    assertEquals(isWithin(name, undefined), false, name);
  }
  for (const name of [".example.com", "aexample.com", "com", ""]) {
    assertEquals(isWithin(name, "example.com"), false, name);
  }
});

Deno.test("The host name of a Host header has no upper case, no port and no root dot", () => {
  const cases: [string, string][] = [
    ["A.Example.com", "a.example.com"],
    ["a.example.com:8001", "a.example.com"],
    ["a.example.com.", "a.example.com"],
    ["A.example.com.:1", "a.example.com"],
    ["a.example.com..", "a.example.com."],
    ["[::1]:8001", "[::1]"],
    ["[::1]", "[::1]"],
    ["127.0.0.1:1", "127.0.0.1"],
  ];
  for (const [host, name] of cases) assertEquals(hostnameOf(host), name, host);
});
