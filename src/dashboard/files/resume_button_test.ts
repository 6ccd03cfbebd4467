import { assertEquals, assertMatch } from "@std/assert";
import { fileMismatch } from "./resume_button.js";

const RECORD = { name: "a/film.mp4", size: 2000, lastModified: 1000 };

Deno.test("An upload resumes with the same file only, and the message says which", () => {
  assertEquals(fileMismatch({ ...RECORD, name: "renamed.mp4" }, RECORD), undefined);
  assertMatch(fileMismatch({ ...RECORD, size: 5 }, RECORD) ?? "", /has 5 bytes.* 2,000: choose/);
  assertMatch(fileMismatch({ ...RECORD, lastModified: 9 }, RECORD) ?? "", /was changed on/);
});
