import { assert, assertEquals, assertLess } from "@std/assert";
import type { CDPSession, Page } from "playwright-core";
import { readZip } from "../support/archive/zip_reader.ts";
import { putMany } from "./support/many_files.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Many files");

const COUNT = 100_000;
/** Rows in the document at most, whatever the length of the list. */
const MAX_ROWS = 80;
/** What the page may hold after all names were loaded, in bytes. */
const MAX_HEAP = 150_000_000;

function nameOf(index: number): string {
  return `file-${index}.txt`;
}

async function heap(page: Page, devTools: CDPSession): Promise<number> {
  await devTools.send("HeapProfiler.collectGarbage");
  const { metrics } = await devTools.send("Performance.getMetrics");
  await page.waitForTimeout(0);
  return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0;
}

async function rowsInDocument(page: Page): Promise<number> {
  return await page.getByRole("grid").locator("[role=row]").count();
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

/** Scrolls through the list for two seconds. Returns the times between frames in milliseconds. */
async function scrollFrames(page: Page): Promise<number[]> {
  return await page.getByRole("grid").evaluate(async (grid) => {
    const times: number[] = [];
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    let last = await frame();
    for (const end = last + 2000; last < end;) {
      grid.scrollTop += 700;
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    return times;
  });
}

test("100,000 files are listed in natural order, searched, sorted and scrolled", async (fixture) => {
  const { page, project, context, server } = fixture;
  await putMany(project, "few", 3000, nameOf);
  await putMany(project, "many", COUNT, nameOf);
  await signInAsOwner(fixture);
  const devTools = await context.newCDPSession(page);
  await devTools.send("Performance.enable");
  await openFolder(fixture, "few");
  await page.getByText("3,000 items").waitFor();
  const usual = medianOf(await scrollFrames(page));
  await page.goto(`${server.origin}/#/p/${project.id}/files/many/`);
  await entry(page, "file-0.txt").waitFor();
  await page.getByText("100,000 items").waitFor();
  await page.getByText("loading more").waitFor({ state: "detached" });
  await entry(page, "file-9.txt").waitFor();
  assertLess(await rowsInDocument(page), MAX_ROWS);
  assertLess(await heap(page, devTools), MAX_HEAP);

  const frames = await scrollFrames(page);
  // A slow machine is slow in a short list as well.
  const most = Math.max(25, 1.5 * usual);
  assertLess(medianOf(frames), most, `frames: ${frames.map(Math.round)}`);
  assertLess(await rowsInDocument(page), MAX_ROWS);

  await entry(
    page,
    (await page.getByRole("grid").locator("[data-index]").nth(20)
      .getAttribute("aria-label"))!,
  ).click();
  await page.keyboard.press("End");
  await entry(page, `file-${COUNT - 1}.txt`).waitFor();
  await page.keyboard.press("Control+a");
  await page.getByText("100,000 selected").first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Home");
  const first = entry(page, "file-0.txt");
  await first.waitFor();
  assertEquals(await first.getAttribute("aria-rowindex"), "2");
  assertEquals(await page.getByRole("grid").getAttribute("aria-rowcount"), String(COUNT + 1));
  assertLess(await heap(page, devTools), MAX_HEAP);
});

test("A search through many names shows its progress and its hits", async (fixture) => {
  const { page } = fixture;
  await putMany(fixture.project, "many", 3000, nameOf);
  await signInAsOwner(fixture);
  await openFolder(fixture, "many");
  await page.getByRole("searchbox").fill("99.TXT");
  await entry(page, "file-2999.txt").waitFor();
  await page.getByText("30 hits").waitFor();
});

test("Scrolling reuses the elements of rows, and the focus stays on its file", async (fixture) => {
  const { page, project } = fixture;
  await putMany(project, "many", 3000, nameOf);
  await signInAsOwner(fixture);
  await openFolder(fixture, "many");
  await entry(page, "file-3.txt").click();
  const grid = page.getByRole("grid");
  const made = await grid.evaluate(async (grid) => {
    // Some frames, however long they take.
    const rest = async () => {
      for (let count = 0; count < 6; count++) await new Promise(requestAnimationFrame);
    };
    const rows = () => [...grid.querySelectorAll(".entry")];
    await rest();
    // Nothing above the first row is rendered beforehand, so there are fewer rows than later.
    grid.scrollTop = 10_000;
    await rest();
    const before = new Set(rows());
    for (const top of [20_000, 20_400, 50_000]) {
      grid.scrollTop = top;
      await rest();
    }
    return rows().filter((row) => !before.has(row)).length;
  });
  assertLess(made, 8);
  // In one call: between two of them the rows may get other names.
  const names = await grid.evaluate((grid) =>
    [...grid.querySelectorAll(".entry")].map((row) => row.getAttribute("data-index"))
  );
  assertEquals(names, names.toSorted((a, b) => Number(a) - Number(b)));
  assertEquals(await page.evaluate(() => document.activeElement?.ariaLabel), "file-3.txt");
  await page.keyboard.press("ArrowDown");
  await entry(page, "file-4.txt").and(page.locator(":focus")).waitFor();
});

test("A list with the focus stays where it was scrolled to", async (fixture) => {
  const { page, project } = fixture;
  await putMany(project, "many", 3000, nameOf);
  await signInAsOwner(fixture);
  await openFolder(fixture, "many");
  await page.getByText("3,000 items").waitFor();
  await entry(page, "file-3.txt").click();
  const missed = await page.getByRole("grid").evaluate(async (grid) => {
    const missed: number[] = [];
    for (const top of [13_153, 12_935, 60_000, 400, 60_300, 19_805, 381, 19_713, 90_000, 157]) {
      grid.scrollTop = top;
      await new Promise((resolve) => setTimeout(resolve, top % 3 * 70));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      if (Math.abs(grid.scrollTop - top) > 1) missed.push(top);
    }
    return missed;
  });
  assertEquals(missed, []);
});

test("A file in the middle is at the same place after Back and after a reload", async (fixture) => {
  const { page, project } = fixture;
  await putMany(project, "many", 3000, nameOf);
  await project.drive("many").put("a folder/x.txt", "x");
  await signInAsOwner(fixture);
  await openFolder(fixture, "many");
  await page.getByText("3,001 items").waitFor();
  const grid = page.getByRole("grid");
  await grid.evaluate(async (grid) => {
    grid.scrollTop = 50_000;
    for (let count = 0; count < 6; count++) await new Promise(requestAnimationFrame);
  });
  await page.waitForTimeout(400);
  const shown = await page.evaluate(() =>
    document.elementFromPoint(600, 400)?.closest("[data-index]")?.getAttribute("aria-label")
  );
  assert(shown);
  await page.getByRole("link", { name: "Links" }).first().click();
  await page.goBack();
  await entry(page, shown).waitFor();
  await page.waitForFunction(() => document.querySelector("[role=grid]")?.scrollTop === 50_000);
  await page.reload();
  await entry(page, shown).waitFor();
  await page.waitForFunction(() => document.querySelector("[role=grid]")?.scrollTop === 50_000);
});

test("A folder of more files than a request can name is downloaded with Select all", async (fixture) => {
  const { page, project } = fixture;
  const names = Array.from({ length: 1100 }, (_, index) => `f${index}`);
  await project.drive("more").fill(names);
  await signInAsOwner(fixture);
  await openFolder(fixture, "more");
  await page.getByText("1,100 items").waitFor();
  await entry(page, "f0").click();
  await page.keyboard.press("Control+a");
  const button = page.getByRole("toolbar").getByRole("button", { name: "Download" });
  const [zip] = await Promise.all([page.waitForEvent("download"), button.click()]);
  assertEquals(readZip(await Deno.readFile(await zip.path())).length, names.length);
  // Without one of them they cannot be named.
  await entry(page, "f0").click({ modifiers: ["Control"] });
  await button.click();
  await page.getByText("At most 1,000 files and 100 folders can be selected").waitFor();
});
