import { assertEquals, assertMatch } from "@std/assert";
import { otherFile } from "./go_on.js";

const RECORD = { name: "a/film.mp4", size: 2000, lastModified: 1000 };

Deno.test("An upload resumes with the same file only, and the message says which", () => {
  assertEquals(otherFile({ ...RECORD, name: "renamed.mp4" }, RECORD), undefined);
  assertMatch(otherFile({ ...RECORD, size: 5 }, RECORD) ?? "", /has 5 bytes.* 2,000: choose/);
  assertMatch(otherFile({ ...RECORD, lastModified: 9 }, RECORD) ?? "", /was changed on/);
});
