import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { signInAsOwner } from "./support/desk.ts";
import { putMany } from "./support/many_files.ts";
import { stories } from "./support/stories.ts";
import { entry, openFolder } from "./support/uploads.ts";

const COUNT = 100_000;
/** What a person waits for without noticing, with room for a busy machine, in milliseconds. */
const OPENS = 1500;
const SCROLLS = 1000;
const FINDS = 1500;

const story = stories("A folder with 100,000 files");

function nameOf(index: number): string {
  return `file-${String(index).padStart(6, "0")}.txt`;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

/** Scrolls the list by so many pages, as the wheel does. */
async function scroll(page: Page, pages: number): Promise<void> {
  await page.getByRole("grid").evaluate((grid, pages) => {
    grid.scrollTop += pages * grid.clientHeight;
  }, pages);
}

/** The names that a person sees now. */
async function seen(page: Page): Promise<string[]> {
  const rows = page.getByRole("grid").getByRole("row").getByRole("button");
  return (await rows.allInnerTexts()).filter((name) => name.startsWith("file-"));
}

story("It opens, scrolls and is searched as quickly as a small one.", async (scene) => {
  const { page, project } = scene;
  await putMany(project, "archive", COUNT, (index) => `many/${nameOf(index)}`);
  await signInAsOwner(scene);
  await openFolder(scene, "archive");
  const opening = await timed(async () => {
    await entry(page, "many").getByRole("link").click();
    await entry(page, nameOf(0)).waitFor();
  });
  assertLess(opening, OPENS, "Opening the folder");
  assert((await seen(page)).length < 200, "Only rows in sight are elements");

  for (let step = 1; step <= 6; step++) {
    const before = (await seen(page)).at(-1) ?? "";
    const time = await timed(async () => {
      await scroll(page, 40);
      await page.waitForFunction((last) => !document.body.innerText.includes(last), before);
    });
    assertLess(time, SCROLLS, `Scrolling for the ${step}th time`);
    const names = await seen(page);
    assertEquals(names, names.toSorted());
  }

  const search = page.getByRole("searchbox");
  const finding = await timed(async () => {
    await search.fill("file-0999");
    await entry(page, nameOf(99_900)).waitFor();
  });
  assertLess(finding, FINDS, "Searching");
  assertEquals(await page.getByRole("grid").getAttribute("aria-rowcount"), "101");
  await search.fill("file-9");
  await page.getByText(/No (file|name)/).first().waitFor();
});

story("It is walked to its end, and sorted by another column.", async (scene) => {
  const { page, project } = scene;
  await putMany(project, "archive", 5000, (index) => `many/${nameOf(index)}`);
  await project.drive("archive").put("many/zzz-large.bin", "more than one byte");
  await signInAsOwner(scene);
  await openFolder(scene, "archive", "many");
  const grid = page.getByRole("grid");
  await entry(page, nameOf(0)).waitFor();
  const last = entry(page, "zzz-large.bin");
  while (!await last.isVisible()) {
    await scroll(page, 1000);
    await page.waitForTimeout(20);
  }
  assertEquals(await grid.getAttribute("aria-rowcount"), "5002");
  const head = grid.getByRole("columnheader", { name: "Size" });
  await head.getByRole("button").click();
  await head.getByRole("button").click();
  await grid.evaluate((grid) => grid.scrollTop = 0);
  const first = grid.getByRole("row").nth(1);
  await first.getByRole("checkbox", { name: "Select zzz-large.bin" }).waitFor();
  assertEquals(await head.getAttribute("aria-sort"), "descending");
  assertStringIncludes(await first.innerText(), "18 B");
});
