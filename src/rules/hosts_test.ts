import { assertEquals } from "@std/assert";
import { hostnameOf, HostRules, isSubdomain } from "./hosts.ts";

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

Deno.test("Names below a suffix, of one label and in other languages are claimable", () => {
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

Deno.test("The gate answers by path under addresses, localhost and its own names alone", () => {
  for (const name of ["127.0.0.1", "[::1]", "[fe80::1]", "localhost", "apps.example.com"]) {
    assertEquals(rules.isGate(name), true, name);
  }
  for (
    const name of ["files.example.com", "a", "app.localhost", "127.1", "[::1", "::1", "[]", ""]
  ) {
    assertEquals(rules.isGate(name), false, name);
  }
});

Deno.test("A name is below another one only at a dot", () => {
  assertEquals(isSubdomain("a.example.com", "example.com"), true);
  assertEquals(isSubdomain("a.b.example.com", "example.com"), true);
  for (const name of ["example.com", ".example.com", "aexample.com", "example.com.evil", ""]) {
    assertEquals(isSubdomain(name, "example.com"), false, name);
  }
});

Deno.test("A Host header gives a name without case, port and the dot of the root", () => {
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
