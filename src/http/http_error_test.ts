import { assert, assertEquals } from "@std/assert";
import { StoreFull } from "../store/disk/disk_space.ts";
import { StoreDamaged, StoreUnavailable, UploadRefused } from "../store/engine/errors.ts";
import { errors, HttpError, renderError, toHttpError } from "./http_error.ts";

/** A word that no answer may contain. */
const SECRET = "drizzle";

const inner = new TypeError(`database ${SECRET} is locked at /srv/${SECRET}`);

Deno.test("every thrown error has a status, and its message contains no internals", async () => {
  const cases = [
    [errors.fileNotFound("a"), 404],
    [new UploadRefused("absent", "There is no upload"), 404],
    [new UploadRefused("other name", "Another name"), 400],
    [new UploadRefused("completed", "It is complete"), 409],
    [new UploadRefused("parts", "Part 2 is missing"), 400],
    [new StoreUnavailable(SECRET, { cause: inner }), 503],
    [new StoreFull(SECRET, { cause: inner }), 507],
    [new StoreDamaged(SECRET, SECRET), 500],
    [new TypeError(`disk I/O error at ${SECRET}`), 503],
    [new TypeError(`database disk image is malformed: ${SECRET}`), 503],
    [new Error(`unable to open database file: ${SECRET}`), 503],
    [inner, 500],
    [new RangeError(SECRET), 500],
    [SECRET, 500],
    [{ message: SECRET, status: 200 }, 500],
    [undefined, 500],
    [null, 500],
    [errors.incompleteBody(inner), 400],
    [errors.internalError(inner), 500],
    [errors.storeUnavailable(inner), 503],
    [errors.diskFull(inner), 507],
  ] as const;
  for (const [thrown, status] of cases) {
    const response = renderError(toHttpError(thrown));
    const text = await response.text();
    assertEquals(response.status, status, text);
    const { errors: [sentence, ...more] } = JSON.parse(text);
    assert(typeof sentence === "string" && sentence !== "", text);
    assertEquals([more, text.includes(SECRET)], [[], false]);
    for (const [, value] of response.headers) assert(!value.includes(SECRET));
  }
});

Deno.test("the cause is kept for the log", () => {
  for (const thrown of [inner, new StoreDamaged("gone", "x"), new StoreFull("full"), "a text"]) {
    assertEquals(toHttpError(thrown).cause, thrown);
  }
});

Deno.test("the message of a refused upload is sent to the caller", () => {
  const { message } = toHttpError(new UploadRefused("parts", "Part 2 is missing"));
  assertEquals(message, "Part 2 is missing");
});

Deno.test("an error is JSON with its own headers and must not be cached", async () => {
  const response = renderError(errors.rangeNotSatisfiable(10));
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(response.headers.get("content-range"), "bytes */10");
  const bytes = await response.bytes();
  assertEquals(response.headers.get("content-length"), String(bytes.byteLength));
});

Deno.test("a temporary error has Retry-After", () => {
  for (const error of [errors.storeUnavailable(inner), errors.shuttingDown()]) {
    assertEquals(error.headers["Retry-After"], "1");
  }
});

Deno.test("a caller's value is quoted, and a long one is shortened", () => {
  assertEquals(errors.fileNotFound('a"\n').message, 'There is no file "a\\"\\n" in this drive');
  const { message } = errors.badParameter("limit", "9".repeat(10_000), "less");
  assert(message.length < 300, message);
  assert(errors.payloadTooLarge() instanceof HttpError);
});
