import { assert, assertEquals } from "@std/assert";
import { StoreFull } from "../store/disk/disk_space.ts";
import {
  BeingDeleted,
  MemoryExhausted,
  NoSuchProject,
  StoreDamaged,
  StoreUnavailable,
  UploadRefused,
} from "../store/engine/errors.ts";
import { renderError, toHttpError } from "./error_response.ts";
import { errors, HttpError } from "./http_error.ts";

/** A word that no answer may contain. */
const SECRET = "drizzle";

const inner = new TypeError(`database ${SECRET} is locked at /srv/${SECRET}`);

Deno.test("every thrown error has a code and its status, and its message contains no internals", async () => {
  const cases = [
    [errors.fileNotFound("a"), 404, "file_not_found"],
    [new UploadRefused("absent", "There is no upload"), 404, "upload_not_found"],
    [new UploadRefused("other name", "Another name"), 400, "upload_name_mismatch"],
    [new UploadRefused("completed", "It is complete"), 409, "upload_completed"],
    [new UploadRefused("parts", "Part 2 is missing"), 400, "invalid_parts"],
    [new BeingDeleted("drive", "d"), 409, "being_removed"],
    [new NoSuchProject("p"), 401, "unknown_key"],
    [new MemoryExhausted("lists"), 503, "memory_exhausted"],
    [new StoreUnavailable(SECRET, { cause: inner }), 503, "store_unavailable"],
    [new StoreFull(SECRET, { cause: inner }), 507, "disk_full"],
    [new StoreDamaged(SECRET, SECRET), 500, "file_damaged"],
    [new TypeError(`disk I/O error at ${SECRET}`), 503, "store_unavailable"],
    [new TypeError(`database disk image is malformed: ${SECRET}`), 503, "store_unavailable"],
    [new Error(`unable to open database file: ${SECRET}`), 503, "store_unavailable"],
    [inner, 500, "internal_error"],
    [new RangeError(SECRET), 500, "internal_error"],
    [SECRET, 500, "internal_error"],
    [{ message: SECRET, status: 200 }, 500, "internal_error"],
    [undefined, 500, "internal_error"],
    [null, 500, "internal_error"],
    [errors.incompleteBody(inner), 400, "incomplete_body"],
    [errors.internalError(inner), 500, "internal_error"],
    [errors.storeUnavailable(inner), 503, "store_unavailable"],
    [errors.diskFull(inner), 507, "disk_full"],
  ] as const;
  for (const [thrown, status, code] of cases) {
    const response = renderError(toHttpError(thrown));
    const text = await response.text();
    assertEquals(response.status, status, text);
    const { errors: [sentence, ...more], code: sent } = JSON.parse(text);
    assertEquals(sent, code, text);
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
  const thrown = [
    errors.storeUnavailable(inner),
    errors.shuttingDown(),
    new BeingDeleted("app", "a"),
  ];
  for (const error of thrown.map(toHttpError)) {
    assertEquals(error.headers["Retry-After"], "1");
  }
});

Deno.test("a caller's value is quoted, and a long one is shortened", () => {
  assertEquals(errors.fileNotFound('a"\n').message, 'There is no file "a\\"\\n" in this drive');
  const { message } = errors.badParameter("limit", "9".repeat(10_000), "less");
  assert(message.length < 300, message);
  assert(errors.payloadTooLarge() instanceof HttpError);
});
