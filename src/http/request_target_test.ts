import { assertEquals, assertThrows } from "@std/assert";
import { HttpError } from "./http_error.ts";
import {
  assertHost,
  decodeLeniently,
  decodeSegment,
  parseTarget,
  Query,
  type RequestTarget,
} from "./request_target.ts";

/** A request as the server passes it on: its URL is unchanged, whereas the constructor of `Request` would normalise it. */
function requestTo(url: string): Request {
  return Object.defineProperty(new Request("http://kv.example/"), "url", { value: url });
}

Deno.test("the path and the query are unchanged", () => {
  const cases: readonly (readonly [string, RequestTarget])[] = [
    ["/", { segments: [""], query: "" }],
    ["/v1/p/d/files", { segments: ["v1", "p", "d", "files"], query: "" }],
    ["/v1/p?a=b", { segments: ["v1", "p"], query: "a=b" }],
    ["/v1/../p/./d/..", { segments: ["v1", "..", "p", ".", "d", ".."], query: "" }],
    ["/%2e%2E/a%2Fb", { segments: ["%2e%2E", "a%2Fb"], query: "" }],
    ["/a//b/", { segments: ["a", "", "b", ""], query: "" }],
    ["//a", { segments: ["", "a"], query: "" }],
    ["/a\\b", { segments: ["a\\b"], query: "" }],
    ["/a?", { segments: ["a"], query: "" }],
    ["/a?b/c?d://e", { segments: ["a"], query: "b/c?d://e" }],
    ["/http://other/x", { segments: ["http:", "", "other", "x"], query: "" }],
  ];
  for (const [target, wanted] of cases) {
    for (const origin of ["http://kv.example", "https://kv.example:8000", "http://[::1]:8000"]) {
      assertEquals(parseTarget(requestTo(origin + target)), wanted, origin + target);
    }
  }
});

Deno.test("a URL without a path has one empty segment", () => {
  for (const rest of ["", "?", "?a=b", "?a=/b/c", "?/"]) {
    const query = rest.slice(1);
    const found = parseTarget(requestTo(`http://kv.example${rest}`));
    assertEquals(found, { segments: [""], query }, rest);
  }
});

Deno.test("a host is a name or an address, with or without a port", () => {
  const hosts = [
    null,
    "localhost",
    "kv.example",
    "KV.Example:443",
    "127.0.0.1:8000",
    "[::1]",
    "[2001:db8::1]:65535",
    "my_host",
    "host:0",
    "xn--bcher-kva.example",
  ];
  for (const host of hosts) {
    assertHost(new Headers(host === null ? {} : { host }));
  }
});

Deno.test("a malformed Host header is 400", () => {
  const hosts = [
    "a/b",
    "a/v1/p",
    "bad host",
    "a?b",
    "a#b",
    "user@host",
    "a\\b",
    "host:80:80",
    "host:port",
    "host:65536",
    "host:123456",
    "host:-1",
    "[::1",
    "::1",
    "[::1]x",
    "[g::1]",
    "a%2Fb",
    '"a"',
    "<a>",
    "",
    ":80",
    "host:",
    "a,b",
    "1.2.3.999",
    "[:::1]",
    "xn--a",
  ];
  for (const host of hosts) {
    const check = () => assertHost(new Headers({ host }));
    assertEquals(assertThrows(check, HttpError, "The Host header").status, 400, host);
  }
});

Deno.test("a segment is decoded once, and a plus is kept", () => {
  const cases = [
    ["photos", "photos"],
    ["my%20photos", "my photos"],
    ["a+b", "a+b"],
    ["%2e%2e", ".."],
    ["a%2Fb", "a/b"],
    ["%252F", "%2F"],
    ["%F0%9F%98%80", "😀"],
    ["%00", "\0"],
    ["", ""],
  ] as const;
  for (const [segment, text] of cases) {
    assertEquals([decodeSegment(segment), decodeLeniently(segment)], [text, text]);
  }
  for (const segment of ["%", "%2", "%zz", "%FF", "%C0%AF", "%ED%A0%80"]) {
    const error = assertThrows(() => decodeSegment(segment), HttpError, "The path is not");
    assertEquals(error.status, 400, segment);
    assertEquals(decodeLeniently(segment), segment);
  }
});

Deno.test("a query string is decoded by the rules of forms", () => {
  const cases = [
    ["name=a.txt", "a.txt"],
    ["name=a+b%20c", "a b c"],
    ["name=a%2Bb", "a+b"],
    ["name=a%2525", "a%25"],
    ["name=%F0%9F%98%80", "😀"],
    ["name=e%CC%81", "e\u0301"],
    ["name=%00", "\0"],
    ["name=%0A", "\n"],
    ["name=%EF%BB%BFa", "\ufeffa"],
    ["name=\ufeffa", "\ufeffa"],
    ["name=%EF%BF%BD", "\ufffd"],
    ["name=a=b", "a=b"],
    ["name==", "="],
    ["name=a?b", "a?b"],
    ["name=a;b", "a;b"],
    ["name=", ""],
    ["name", ""],
    ["&&name=a&&", "a"],
    ["n%61me=a", "a"],
    ["other=1&name=a&NAME=b", "a"],
    ["na+me=b&name=a", "a"],
  ] as const;
  for (const [text, value] of cases) assertEquals(new Query(text).one("name"), value, text);
});

Deno.test("a query string that is not percent-encoded UTF-8 is 400, in names and values", () => {
  const parts = ["%", "%4", "%zz", "a%", "%FF", "%C3", "%C3%28", "%C0%80", "%ED%A0%80", "%u0041"];
  for (const part of parts) {
    for (const text of [`name=${part}`, `${part}=a`, part, `name=a&other=${part}`]) {
      const error = assertThrows(() => new Query(text), HttpError, "query string");
      assertEquals(error.status, 400, text);
    }
  }
});

Deno.test("a parameter has one value, or all its values if it may be repeated", () => {
  const query = new Query("one=1&many=a&many=b&many=&many=a&empty=&two=1&two=1");
  assertEquals(query.one("one"), "1");
  assertEquals(query.required("one"), "1");
  assertEquals(query.one("empty"), "");
  assertEquals(query.required("empty"), "");
  assertEquals(query.one("none"), undefined);
  assertEquals(query.all("many"), ["a", "b", "", "a"]);
  assertEquals(query.all("none"), []);
  assertThrows(() => query.one("two"), HttpError, '"two" is given more than once');
  for (const take of [() => query.one("many"), () => query.required("many")]) {
    assertEquals(assertThrows(take, HttpError, '"many" is given more than once').status, 400);
  }
  const error = assertThrows(() => query.required("none"), HttpError, '"none" is missing');
  assertEquals(error.status, 400);
});

Deno.test("names of inherited properties are ordinary parameters", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    assertEquals(new Query("a=1").one(name), undefined);
    assertEquals(new Query(`${name}=1`).one(name), "1");
  }
});

Deno.test("a flag is true, false or absent", () => {
  for (const absent of [true, false]) {
    assertEquals(new Query("").flag("flag", absent), absent);
    assertEquals(new Query("flag=true").flag("flag", absent), true);
    assertEquals(new Query("flag=false").flag("flag", absent), false);
    for (const value of ["", "1", "0", "True", "yes", "true+"]) {
      const read = () => new Query(`flag=${value}`).flag("flag", absent);
      assertEquals(assertThrows(read, HttpError, "must be true or false").status, 400, value);
    }
  }
});

Deno.test("a positive parameter is a whole number of at least 1, of any length", () => {
  const cases = [
    ["", undefined],
    ["limit=1", 1],
    ["limit=1000", 1000],
    ["limit=0010", 10],
    ["limit=9007199254740993", 9007199254740992],
    [`limit=${"9".repeat(400)}`, Infinity],
  ] as const;
  for (const [text, value] of cases) assertEquals(new Query(text).positive("limit"), value, text);
  for (
    const value of ["", "0", "00", "-1", "%2B1", "1.0", "1e3", "0x1", "+1", "1+", "a", "%D9%A1"]
  ) {
    const read = () => new Query(`limit=${value}`).positive("limit");
    const error = assertThrows(read, HttpError, "must be a whole number of at least 1");
    assertEquals(error.status, 400, value);
  }
});
