import { join } from "@std/path";
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { assertAccessible } from "./accessibility.ts";
import { DESK, PHONE } from "./scene.ts";

const FOLDER = join(import.meta.dirname ?? ".", "../screenshots");

/**
 * Looks at a screen as it stands, on a desk and on a telephone, light and dark: nothing may break a rule of
 * accessibility, and nothing may be wider than the screen. A picture of each is kept for people to look at.
 */
export async function inspect(page: Page, name: string): Promise<void> {
  await Deno.mkdir(FOLDER, { recursive: true });
  for (const size of [DESK, PHONE]) {
    await page.setViewportSize(size);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const what = `${name}-${size.width}-${colorScheme}`;
      // Behind a dialog the page is not scrolled, so nobody sees the rest of it.
      const fullPage = await page.getByRole("dialog").count() === 0;
      await page.screenshot({ path: join(FOLDER, `${what}.png`), fullPage });
      assertEquals(await tooWide(page), [], `${what} is wider than the screen`);
      await assertAccessible(page, what);
    }
  }
  await page.setViewportSize(DESK);
  await page.emulateMedia({ colorScheme: "light" });
}

/** What would have to be scrolled sideways: the page, a dialog, or a table, whose rows are cards on a telephone. */
async function tooWide(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const boxes = document.querySelectorAll(":root, dialog[open], .table-box");
    return [...boxes].filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => `${box.tagName}: ${box.scrollWidth} > ${box.clientWidth}`);
  });
}
