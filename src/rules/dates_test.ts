import { assertEquals } from "@std/assert";
import { isoDeadline, isoSeconds, parseHttpDate, parseUtcTime, utcTime } from "./dates.ts";

Deno.test("An HTTP date has one of three forms", () => {
  const cases = [
    ["Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777],
    ["Sun Nov  6 08:49:37 1994", 784_111_777],
    ["Wed Nov 16 08:49:37 1994", 784_975_777],
    ["Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799],
  ] as const;
  for (const [text, seconds] of cases) assertEquals(parseHttpDate(text), seconds, text);
});

Deno.test("Any other text is no HTTP date", () => {
  const texts = [
    "",
    "0",
    "784111777",
    "1994-11-06",
    "1994-11-06T08:49:37Z",
    "06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 25:49:37 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun",
    "Sun, ",
    "sun, 06 nov 1994 08:49:37 gmt",
    "Foo, 06 Nov 1994 08:49:37 GMT",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 anF 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT",
    "Sun, 06 Nov 1994 08:49:99 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 +0100",
    "Sun, 06 Nov 1994 08:49:37 PST",
    "Sun, Nov 6",
    "Abc 5",
    "Sun, 31 Feb 1994 08:49:37 GMT",
  ];
  assertEquals(texts.filter((text) => parseHttpDate(text) !== undefined), []);
});

Deno.test("A two-digit year is never more than 50 years ahead", () => {
  const now = new Date().getUTCFullYear();
  for (const [ahead, wanted] of [[0, 0], [1, 1], [49, 49], [51, -49], [99, -1]] as const) {
    const year = String((now + ahead) % 100).padStart(2, "0");
    const found = parseHttpDate(`Sunday, 06-Nov-${year} 08:49:37 GMT`) ?? NaN;
    assertEquals(new Date(found * 1000).getUTCFullYear(), now + wanted, year);
  }
});

Deno.test("A time is formatted in UTC with whole seconds, rounded down", () => {
  const cases = [
    [0, "1970-01-01T00:00:00Z"],
    [Date.UTC(2021, 3, 22, 11, 50, 8), "2021-04-22T11:50:08Z"],
    [Date.UTC(2021, 3, 22, 11, 50, 8, 999), "2021-04-22T11:50:08Z"],
    [Date.UTC(1999, 11, 31, 23, 59, 59, 1), "1999-12-31T23:59:59Z"],
  ] as const;
  for (const [ms, text] of cases) assertEquals(isoSeconds(ms), text);
});

Deno.test("A UTC time of RFC 3339 is read to the millisecond", () => {
  const cases = [
    ["1970-01-01T00:00:00Z", 0],
    ["2021-04-22T11:50:08.123Z", Date.UTC(2021, 3, 22, 11, 50, 8, 123)],
    ["2021-04-22T11:50:08.1Z", Date.UTC(2021, 3, 22, 11, 50, 8, 100)],
    ["2021-04-22t11:50:08z", Date.UTC(2021, 3, 22, 11, 50, 8)],
    ["2024-02-29T23:59:59.999Z", Date.UTC(2024, 1, 29, 23, 59, 59, 999)],
    ["1969-12-31T23:59:59.999Z", -1],
    ["0000-01-01T00:00:00Z", -62_167_219_200_000],
    ["9999-12-31T23:59:59.999Z", 253_402_300_799_999],
  ] as const;
  for (const [text, time] of cases) assertEquals(parseUtcTime(text), time, text);
});

Deno.test("What is no UTC time to the millisecond is no time", () => {
  const texts = [
    "",
    "2021-04-22",
    "2021-04-22T11:50Z",
    "2021-04-22T11:50:08",
    "2021-04-22 11:50:08Z",
    "2021-04-22T11:50:08+00:00",
    "2021-04-22T11:50:08-02:00",
    "2021-04-22T11:50:08.Z",
    "2021-04-22T11:50:08,5Z",
    "2021-04-22T11:50:08.1234Z",
    "2021-02-29T11:50:08Z",
    "2021-13-01T00:00:00Z",
    "2021-00-10T00:00:00Z",
    "2021-04-31T00:00:00Z",
    "2021-04-22T24:00:00Z",
    "2021-04-22T11:60:00Z",
    "2016-12-31T23:59:60Z",
    "+002021-04-22T11:50:08Z",
    "12021-04-22T11:50:08Z",
    "21-4-22T11:50:08Z",
    " 2021-04-22T11:50:08Z",
    "2021-04-22T11:50:08Z\n",
    "1619092208",
    "٢٠٢١-04-22T11:50:08Z",
  ];
  assertEquals(texts.filter((text) => parseUtcTime(text) !== undefined), []);
});

Deno.test("A time is written as it is read, in the years that have four digits", () => {
  for (const text of ["0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]) {
    const time = parseUtcTime(text) ?? NaN;
    assertEquals(utcTime(time), text);
    assertEquals(utcTime(time + (time < 0 ? -1 : 1)), undefined);
  }
  assertEquals([NaN, Infinity].map(utcTime), [undefined, undefined]);
});

Deno.test("A deadline is formatted in whole seconds, rounded up", () => {
  const second = Date.UTC(2021, 3, 22, 11, 50, 8);
  for (const time of [second - 999, second - 1, second]) {
    assertEquals(isoDeadline(time), "2021-04-22T11:50:08Z");
  }
  assertEquals(isoDeadline(second + 1), "2021-04-22T11:50:09Z");
});
