import { assertEquals } from "@std/assert";
import {
  allowsRange,
  allowsWrite,
  evaluateRead,
  listsEtag,
  type Preconditions,
  type Validators,
} from "./preconditions.ts";

const AT = "Sun, 06 Nov 1994 08:49:37 GMT";
const BEFORE = "Sun, 06 Nov 1994 08:49:36 GMT";
const AFTER = "Sun, 06 Nov 1994 08:49:38 GMT";

/** 37.6 seconds: an HTTP date cannot express the fraction. */
const CURRENT: Validators = {
  etag: "v1",
  tag: undefined,
  modified: 784_111_777_600,
  dateIsStrong: true,
};

function asking(headers: Partial<Preconditions>): Preconditions {
  return {
    ifMatch: null,
    ifNoneMatch: null,
    ifModifiedSince: null,
    ifUnmodifiedSince: null,
    ...headers,
  };
}

function assertReads(cases: readonly (readonly [Partial<Preconditions>, 200 | 304 | 412])[]): void {
  for (const [headers, status] of cases) {
    assertEquals(evaluateRead(asking(headers), CURRENT), status, JSON.stringify(headers));
  }
}

Deno.test("If-Match compares strongly and holds for one tag of a list or for *", () => {
  assertReads([
    [{ ifMatch: '"v1"' }, 200],
    [{ ifMatch: ' "v1" ' }, 200],
    [{ ifMatch: '"v0", "v1"' }, 200],
    [{ ifMatch: '"v0","v1","v2"' }, 200],
    [{ ifMatch: '"a,b", "v1"' }, 200],
    [{ ifMatch: "*" }, 200],
    [{ ifMatch: " * " }, 200],
    [{ ifMatch: "v1" }, 200],
    [{ ifMatch: "v0, v1" }, 200],
    [{ ifMatch: 'W/"v1"' }, 412],
    [{ ifMatch: 'W/"v1", "v2"' }, 412],
    [{ ifMatch: '"V1"' }, 412],
    [{ ifMatch: '"v1 "' }, 412],
    [{ ifMatch: '"*"' }, 412],
    [{ ifMatch: '"a,v1"' }, 412],
    [{ ifMatch: "" }, 412],
  ]);
});

Deno.test("If-None-Match compares weakly and fails for one tag of a list or for *", () => {
  assertReads([
    [{ ifNoneMatch: '"v1"' }, 304],
    [{ ifNoneMatch: 'W/"v1"' }, 304],
    [{ ifNoneMatch: 'W/"v0", W/"v1"' }, 304],
    [{ ifNoneMatch: '"v0","v1"' }, 304],
    [{ ifNoneMatch: "*" }, 304],
    [{ ifNoneMatch: "v1" }, 304],
    [{ ifNoneMatch: '"v0"' }, 200],
    [{ ifNoneMatch: 'w/"v0"' }, 200],
    [{ ifNoneMatch: "" }, 200],
  ]);
});

Deno.test("Dates are compared in whole seconds, and malformed ones are ignored", () => {
  assertReads([
    [{ ifModifiedSince: BEFORE }, 200],
    [{ ifModifiedSince: AT }, 304],
    [{ ifModifiedSince: AFTER }, 304],
    [{ ifModifiedSince: "yesterday" }, 200],
    [{ ifModifiedSince: "1994-11-06T08:49:37Z" }, 200],
    [{ ifModifiedSince: "" }, 200],
    [{ ifUnmodifiedSince: BEFORE }, 412],
    [{ ifUnmodifiedSince: AT }, 200],
    [{ ifUnmodifiedSince: AFTER }, 200],
    [{ ifUnmodifiedSince: "never" }, 200],
  ]);
});

Deno.test("Conditions are evaluated in the order of RFC 9110, 13.2.2: entity tags before dates", () => {
  assertReads([
    [{ ifMatch: '"v1"', ifUnmodifiedSince: BEFORE }, 200],
    [{ ifMatch: '"v0"', ifUnmodifiedSince: AFTER }, 412],
    [{ ifMatch: '"v0"', ifNoneMatch: '"v1"' }, 412],
    [{ ifMatch: '"v1"', ifNoneMatch: '"v1"' }, 304],
    [{ ifMatch: '"v1"', ifModifiedSince: AT }, 304],
    [{ ifUnmodifiedSince: BEFORE, ifNoneMatch: '"v1"' }, 412],
    [{ ifUnmodifiedSince: AT, ifNoneMatch: '"v1"' }, 304],
    [{ ifNoneMatch: '"v0"', ifModifiedSince: AT }, 200],
    [{ ifNoneMatch: '"v1"', ifModifiedSince: BEFORE }, 304],
  ]);
});

Deno.test("A write is allowed only if its conditions hold for the current file, or for none", () => {
  const cases = [
    // Headers, over the file, over nothing.
    [{}, true, true],
    [{ ifNoneMatch: "*" }, false, true],
    [{ ifNoneMatch: '"v1"' }, false, true],
    [{ ifNoneMatch: 'W/"v1"' }, false, true],
    [{ ifNoneMatch: '"v0"' }, true, true],
    [{ ifMatch: "*" }, true, false],
    [{ ifMatch: '"v1"' }, true, false],
    [{ ifMatch: "v1" }, true, false],
    [{ ifMatch: '"v0"' }, false, false],
    [{ ifMatch: 'W/"v1"' }, false, false],
    [{ ifMatch: '"v1"', ifNoneMatch: '"v1"' }, false, false],
    [{ ifMatch: '"v1"', ifUnmodifiedSince: BEFORE }, true, false],
    [{ ifUnmodifiedSince: BEFORE }, false, true],
    [{ ifUnmodifiedSince: AT }, true, true],
    [{ ifUnmodifiedSince: AT, ifNoneMatch: "*" }, false, true],
    [{ ifModifiedSince: AT }, true, true],
  ] as const;
  for (const [headers, overFile, overNothing] of cases) {
    const about = JSON.stringify(headers);
    assertEquals(allowsWrite(asking(headers), CURRENT), overFile, about);
    assertEquals(allowsWrite(asking(headers), undefined), overNothing, about);
  }
});

Deno.test("A range applies with If-Range only if that names the current version", () => {
  const cases = [
    // Header, with a strong date, with a weak one.
    [null, true, true],
    ['"v1"', true, true],
    [' "v1" ', true, true],
    ['"v0"', false, false],
    ['W/"v1"', false, false],
    ['"v1", "v2"', false, false],
    ["*", false, false],
    ["", false, false],
    [AT, true, false],
    [BEFORE, false, false],
    [AFTER, false, false],
    ["Sunday, 06-Nov-94 08:49:37 GMT", true, false],
    ["yesterday", false, false],
  ] as const;
  for (const [header, strong, weak] of cases) {
    assertEquals(allowsRange(header, CURRENT), strong, `${header}`);
    assertEquals(allowsRange(header, { ...CURRENT, dateIsStrong: false }), weak, `${header}`);
  }
});

Deno.test("A list of entity tags matches by weak or strong comparison", () => {
  const cases = [
    // Header, weak, strong.
    [null, false, false],
    ["", false, false],
    ["*", true, true],
    ['"v1"', true, true],
    ['W/"v1"', true, false],
    ['"v0", W/"v1"', true, false],
    ['"v0,v1"', false, false],
    ["v1", true, true],
  ] as const;
  for (const [header, weak, strong] of cases) {
    assertEquals(listsEtag(header, "v1", "weak"), weak, `${header}`);
    assertEquals(listsEtag(header, "v1", "strong"), strong, `${header}`);
  }
});
