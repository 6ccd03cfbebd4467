import { join } from "@std/path/join";
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { assertAccessible } from "./accessibility.ts";
import { DESKTOP, PHONE } from "./fixture.ts";

/** Tablets and a large screen, on which only the layout is checked. */
const OTHER_SIZES = [
  { width: 768, height: 1024 },
  { width: 900, height: 700 },
  { width: 1920, height: 1080 },
];

const FOLDER = join(import.meta.dirname ?? ".", "../screenshots");

/**
 * Checks a screen in desktop and phone size, light and dark: it violates no accessibility rule, nothing is wider than the
 * screen, and the document is not longer. Saves a screenshot of each.
 */
export async function inspect(page: Page, name: string): Promise<void> {
  await Deno.mkdir(FOLDER, { recursive: true });
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const variant = `${name}-${size.width}-${colorScheme}`;
      // The page behind a dialog cannot be scrolled.
      const fullPage = await page.getByRole("dialog").count() === 0;
      await page.screenshot({ path: join(FOLDER, `${variant}.png`), fullPage });
      assertEquals(await tooWide(page), [], `${variant} is wider than the screen`);
      assertEquals(await hidden(page), 0, `${variant} is longer than the screen`);
      await assertAccessible(page, variant);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  for (const size of OTHER_SIZES) {
    await page.setViewportSize(size);
    const variant = `${name}-${size.width}`;
    await page.screenshot({ path: join(FOLDER, `${variant}.png`) });
    assertEquals(await tooWide(page), [], `${variant} is wider than the screen`);
  }
  await page.setViewportSize(DESKTOP);
}

/** Pixels of the document below the screen: only its parts scroll. */
async function hidden(page: Page): Promise<number> {
  return await page.evaluate(() => {
    const { scrollHeight, clientHeight } = document.documentElement;
    return scrollHeight - clientHeight;
  });
}

/**
 * Boxes that scroll sideways: the page, a dialog, or a table, whose rows are cards on a phone. And what a table cuts off, or
 * covers another cell.
 */
async function tooWide(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const boxes = document.querySelectorAll(
      ":root, main, dialog[open], .dialog-body, .table-frame",
    );
    const scrolled = [...boxes].filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => `${box.tagName}: ${box.scrollWidth} > ${box.clientWidth}`);
    const rightOf = (element: Element) => Math.floor(element.getBoundingClientRect().right);
    const cut = [...document.querySelectorAll(".table-frame :is(button, a, .badge)")]
      .filter((one) => rightOf(one) > rightOf(one.closest("td, th")!))
      .map((one) => `${one.textContent || one.ariaLabel}: ${rightOf(one)}`);
    return [...scrolled, ...cut];
  });
}
