import { assert, assertEquals } from "@std/assert";
import { fitEnd, textWidth } from "./text_width.ts";

Deno.test("Wide characters take two columns, joined ones together", () => {
  const widths = ["", "abc", "日本", "e\u0301", "👩‍👩‍👧", "한글 x"].map(textWidth);
  assertEquals(widths, [0, 3, 4, 1, 2, 6]);
});

Deno.test("What is too wide keeps its end", () => {
  assertEquals(fitEnd("photos/cat.jpg", 14), "photos/cat.jpg");
  assertEquals(fitEnd("photos/cat.jpg", 8), "…cat.jpg");
  assertEquals(fitEnd("日本語", 4), "…語");
  assertEquals(fitEnd("abc", 1), "…");
  assertEquals(fitEnd("abc", 0), "");
  for (let columns = 0; columns < 12; columns++) {
    assert(textWidth(fitEnd("日a本👩‍👩‍👧b語", columns)) <= columns);
  }
});
