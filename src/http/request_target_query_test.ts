import { assertEquals, assertThrows } from "@std/assert";
import { HttpError } from "./http_error.ts";
import { Query } from "./request_target.ts";

Deno.test("A query string is decoded by the rules of forms", () => {
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

Deno.test("A query string that is not percent-encoded UTF-8 is refused, in names and values", () => {
  const parts = ["%", "%4", "%zz", "a%", "%FF", "%C3", "%C3%28", "%C0%80", "%ED%A0%80", "%u0041"];
  for (const part of parts) {
    for (const text of [`name=${part}`, `${part}=a`, part, `name=a&other=${part}`]) {
      const error = assertThrows(() => new Query(text), HttpError, "query string");
      assertEquals(error.status, 400, text);
    }
  }
});

Deno.test("A parameter is taken once, and every value of one that may be repeated is", () => {
  const query = new Query("one=1&many=a&many=b&many=&many=a&empty=");
  assertEquals(query.one("one"), "1");
  assertEquals(query.required("one"), "1");
  assertEquals(query.one("empty"), "");
  assertEquals(query.required("empty"), "");
  assertEquals(query.one("none"), undefined);
  assertEquals(query.all("many"), ["a", "b", "", "a"]);
  assertEquals(query.all("none"), []);
  for (const take of [() => query.one("many"), () => query.required("many")]) {
    assertEquals(assertThrows(take, HttpError, '"many" is given more than once').status, 400);
  }
  const error = assertThrows(() => query.required("none"), HttpError, '"none" is missing');
  assertEquals(error.status, 400);
});

Deno.test("Names that every object has are parameters like others", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    assertEquals(new Query("a=1").one(name), undefined);
    assertEquals(new Query(`${name}=1`).one(name), "1");
  }
});

Deno.test("A flag is true, false or absent", () => {
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

Deno.test("A positive parameter is a whole number from 1 on, of any length", () => {
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
    const error = assertThrows(read, HttpError, "must be a whole number from 1 on");
    assertEquals(error.status, 400, value);
  }
});
