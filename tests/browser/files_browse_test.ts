import { assert, assertEquals, assertLess } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { makeLink } from "../support/sharing/links.ts";
import { patternBytes } from "../support/bytes.ts";
import { type Fixture, PHONE } from "./support/fixture.ts";
import { signInAsOwner, submitSecret } from "./support/navigation.ts";
import { png } from "./support/samples.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, labels, openFolder } from "./support/uploads.ts";

const test = suite("Browsing files");

const LONG = `${"a very long name without end ".repeat(4)}of-one-word-${"x".repeat(80)}.txt`;

/** Puts files of many kinds into a drive. */
async function fill({ project, page }: Fixture): Promise<void> {
  const photos = project.drive("photos");
  const image = await png(page);
  for (const index of [1, 2, 3, 10, 11, 12]) await photos.put(`img${index}.png`, image);
  await photos.put("Trip 2026/day 1/harbour.png", image);
  await photos.put("Trip 2026/notes.md", "# Notes\n");
  await photos.put("archive/a.zip", patternBytes(1000));
  await photos.put("beep.wav", patternBytes(40_000));
  await photos.put("clip.mp4", patternBytes(80_000));
  await photos.put("Paper.pdf", patternBytes(20_000));
  await photos.put("backup.tar.gz", patternBytes(2_000_000));
  await photos.put(LONG, "long");
}

/** Fills a drive, signs in and opens it. */
async function open(fixture: Fixture): Promise<Page> {
  await fill(fixture);
  await signInAsOwner(fixture);
  await openFolder(fixture, "photos");
  await entry(fixture.page, "img1.png").waitFor();
  return fixture.page;
}

function selectedRows(page: Page): Locator {
  return page.locator("[role=row][aria-selected=true]");
}

test("Folders come first, then names in natural order; a column sorts, and is remembered", async (fixture) => {
  const page = await open(fixture);
  const natural = ["archive", "Trip 2026", LONG, "backup.tar.gz", "beep.wav", "clip.mp4"];
  const images = ["img1.png", "img2.png", "img3.png", "img10.png", "img11.png", "img12.png"];
  assertEquals(await labels(page), [...natural, ...images, "Paper.pdf"]);
  await entry(page, "Paper.pdf").getByText("PDF document").waitFor();
  await entry(page, "clip.mp4").click();
  await page.getByRole("columnheader", { name: "Size" }).getByRole("button").click();
  assertEquals((await labels(page)).slice(0, 5), [
    "archive",
    "Trip 2026",
    "backup.tar.gz",
    "clip.mp4",
    "beep.wav",
  ]);
  assertEquals(
    await page.getByRole("columnheader", { name: "Size" }).getAttribute("aria-sort"),
    "descending",
  );
  assertEquals(await selectedRows(page).getAttribute("aria-label"), "clip.mp4");
  await page.reload();
  await entry(page, "img1.png").waitFor();
  assertEquals((await labels(page))[2], "backup.tar.gz");
});

test("Folders open and close with the mouse, breadcrumbs, Back and Forward", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "Trip 2026").dblclick();
  await entry(page, "day 1").dblclick();
  await entry(page, "harbour.png").waitFor();
  const crumbs = page.getByRole("navigation", { name: "Folders" });
  assertEquals(await crumbs.getByRole("listitem").allTextContents(), [
    "Files",
    "photos",
    "Trip 2026",
    "day 1",
  ]);
  await crumbs.getByRole("link", { name: "Trip 2026" }).click();
  await entry(page, "notes.md").waitFor();
  await page.goBack();
  await entry(page, "harbour.png").waitFor();
  await page.goBack();
  await page.goBack();
  await entry(page, "img1.png").waitFor();
  await page.goForward();
  await entry(page, "notes.md").waitFor();
});

test("The mouse selects one, several and a range", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "img1.png").click();
  await entry(page, "img3.png").click({ modifiers: ["ControlOrMeta"] });
  assertEquals(await selectedRows(page).count(), 2);
  await entry(page, "img11.png").click({ modifiers: ["Shift"] });
  assertEquals(await selectedRows(page).count(), 3);
  await page.getByText("3 selected").first().waitFor();
  const bar = page.getByRole("toolbar", { name: "Selected files" });
  await bar.getByRole("button", { name: "Clear the selection" }).click();
  assertEquals(await selectedRows(page).count(), 0);
  await entry(page, "img2.png").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Preview" }).waitFor();
  await page.keyboard.press("Escape");
  assertEquals(await selectedRows(page).getAttribute("aria-label"), "img2.png");
});

test("Entries are dragged into a folder and onto a breadcrumb", async (fixture) => {
  const page = await open(fixture);
  // A picture that is loaded while its file moves is not found.
  const waitForPictures = async () => {
    for (const name of ["img1.png", "img2.png"]) await entry(page, name).locator("img").waitFor();
  };
  await waitForPictures();
  await entry(page, "img1.png").click();
  await entry(page, "img2.png").click({ modifiers: ["ControlOrMeta"] });
  await entry(page, "img2.png").dragTo(entry(page, "archive"));
  await entry(page, "img2.png").waitFor({ state: "detached" });
  await entry(page, "archive").dblclick();
  await waitForPictures();
  await entry(page, "img1.png").dragTo(
    page.getByRole("navigation", { name: "Folders" }).getByRole("link", { name: "photos" }),
  );
  await entry(page, "img1.png").waitFor({ state: "detached" });
  await page.goBack();
  await entry(page, "img1.png").waitFor();
});

test("The list follows other changes, and keeps what is selected", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "img3.png").click();
  await fixture.project.drive("photos").put("img2b.png", "new");
  await fixture.project.drive("photos").delete(["beep.wav"]);
  await page.getByRole("button", { name: "Refresh" }).click();
  await entry(page, "img2b.png").waitFor();
  await entry(page, "beep.wav").waitFor({ state: "detached" });
  assertEquals(await selectedRows(page).getAttribute("aria-label"), "img3.png");
});

test("Images have thumbnails, which are loaded once", async (fixture) => {
  const page = await open(fixture);
  const image = entry(page, "img1.png").locator("img");
  await image.waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".picture img").length === 6);
  assert(await image.evaluate((image: HTMLImageElement) => image.decode().then(() => true)));
  const downloads: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/files/download")) downloads.push(request.url());
  });
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll(".picture img").length === 6);
  assertEquals(downloads, []);
});

/** Returns whether the browser has kept a listing, which it writes after it has shown it. Runs in the page. */
function hasKeptListing(): Promise<boolean> {
  return new Promise((resolve) => {
    const request = indexedDB.open("kvdrive.files");
    request.onsuccess = () => {
      const count = request.result.transaction("listings").objectStore("listings").count();
      count.onsuccess = () => {
        request.result.close();
        resolve(count.result > 0);
      };
    };
  });
}

test("A known folder is shown before the server answers, and nothing old survives", async (fixture) => {
  const page = await open(fixture);
  await page.waitForFunction(hasKeptListing);
  const answer = Promise.withResolvers<void>();
  await page.route(/\/files\?.*recursive=false/, async (route) => {
    await answer.promise;
    await route.continue();
  });
  await fixture.project.drive("photos").delete(["beep.wav"]);
  await page.reload();
  await entry(page, "beep.wav").waitFor();
  answer.resolve();
  await entry(page, "beep.wav").waitFor({ state: "detached" });
  await entry(page, "img2.png").waitFor();
});

test("A drive is named and opened; an empty one says so", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await page.getByText("No drives yet").waitFor();
  await inspect(page, "drives-none");
  await page.getByRole("button", { name: "New drive" }).click();
  await page.getByLabel("Name").fill("a/b");
  await page.getByRole("button", { name: "Create drive" }).click();
  await page.getByText("has no slashes").waitFor();
  await page.getByLabel("Name").fill("music");
  await page.getByRole("button", { name: "Create drive" }).click();
  await page.getByText("This drive is empty").waitFor();
  await inspect(page, "folder-empty");
  assertEquals(await fixture.project.drive("music").usage(), { files: 0, bytes: 0 });
});

test("A limited key sees what it may, and is told what it may not", async (fixture) => {
  const { page, project, server } = fixture;
  await fill(fixture);
  const key = async (body: Record<string, unknown>) => {
    const answer = await project.call("POST", "/keys", { body: { name: "limited", ...body } });
    return (answer.json as { project_key: string }).project_key;
  };
  const signIn = async (secret: string) => {
    await fixture.context.clearCookies();
    await page.goto("about:blank");
    await page.goto(server.origin);
    await submitSecret(page, secret);
    await page.getByRole("button", { name: "Sign in" }).waitFor({ state: "detached" });
  };
  await signIn(await key({ permissions: ["list", "read"], name_prefix: "Trip 2026/" }));
  await openFolder(fixture, "photos");
  await entry(page, "Trip 2026").waitFor();
  assertEquals(await labels(page), ["Trip 2026"]);
  assertEquals(await page.getByRole("button", { name: "Upload" }).count(), 0);
  await signIn(await key({ permissions: ["read"], drives: ["photos"] }));
  await page.getByRole("link", { name: "photos" }).click();
  await page.getByText("This key may not list files").waitFor();
});

test("On a phone a tap opens, a long press selects, and the first file is near the top", async (fixture) => {
  await fill(fixture);
  await using context = await fixture.context.browser()!.newContext({
    viewport: PHONE,
    hasTouch: true,
    isMobile: true,
  });
  const page = await context.newPage();
  const phone = fixture.withPage(page);
  await signInAsOwner(phone);
  await openFolder(phone, "photos");
  const first = entry(page, "archive");
  await first.waitFor();
  assertLess((await first.boundingBox())!.y, PHONE.height / 2);
  const devTools = await context.newCDPSession(page);
  const { x, y } = (await entry(page, "beep.wav").boundingBox())!;
  const touchPoints = [{ x: x + 100, y: y + 20 }];
  await devTools.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints });
  await page.getByRole("toolbar", { name: "Selected files" }).waitFor();
  await devTools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await entry(page, "clip.mp4").tap({ position: { x: 100, y: 20 } });
  assertEquals(await selectedRows(page).count(), 2);
  await page.getByRole("button", { name: "Clear the selection" }).tap();
  await entry(page, "Trip 2026").tap({ position: { x: 100, y: 20 } });
  await entry(page, "notes.md").waitFor();
  await page.getByRole("link", { name: "Back to photos" }).tap();
  await first.waitFor();
});

test("List, grid and drives on every screen", async (fixture) => {
  const { page, project } = fixture;
  await fill(fixture);
  await project.drive("backups of the year").put("monday.tar", patternBytes(3_000_000));
  await makeLink(project.drive("photos"), { name: "clip.mp4" });
  await signInAsOwner(fixture);
  await page.getByRole("link", { name: /photos/ }).waitFor();
  await inspect(page, "drives");
  await openFolder(fixture, "photos");
  await entry(page, "clip.mp4").getByRole("img", { name: "Shared with a link" }).waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".picture img").length === 6);
  await inspect(page, "folder-list");
  await entry(page, "img1.png").click();
  await entry(page, "img3.png").click({ modifiers: ["Shift"] });
  await inspect(page, "folder-selected");
  const cells = entry(page, LONG).locator(".entry-name, .cell-type, .cell-modified, .cell-size");
  const boxes = await cells.evaluateAll((all) =>
    all.map((cell) => cell.getBoundingClientRect().toJSON())
  );
  for (const [index, { right }] of boxes.entries()) {
    const next = boxes[index + 1];
    if (next !== undefined) assertLess(right, next.left, "A cell lies over the next one");
  }
  await page.getByRole("button", { name: "Show as grid" }).click();
  await entry(page, "img1.png").locator("img").waitFor();
  const [picture, foot] = await entry(page, "img1.png").locator(".picture, .tile-foot")
    .evaluateAll((all) => all.map((part) => part.getBoundingClientRect().toJSON()));
  assert(picture.bottom <= foot.top, "The picture lies over the name");
  await inspect(page, "folder-grid");
});

test("On every width the filters stay beside the tools", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("photos").put("a.txt", "a");
  await signInAsOwner(fixture);
  await openFolder(fixture, "photos");
  for (const width of [768, 900, 1023, 1024, 1120, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const ends = await page.getByRole("group", { name: "Filters" }).evaluate((filters) => [
      filters.getBoundingClientRect().right,
      filters.nextElementSibling?.getBoundingClientRect().left ?? 0,
    ]);
    assert(ends[0]! <= ends[1]!, `at ${width}: ${ends}`);
    const last = page.getByRole("button", { name: "Modified" }).first();
    assert((await last.boundingBox())!.width > 40);
  }
});

test("Of a deep folder the drive and the last folders are shown, the others are in a menu", async (fixture) => {
  const { page, project } = fixture;
  const folders = Array.from({ length: 9 }, (_, index) => `a folder with a long name, ${index}`);
  await project.drive("deep").put([...folders, "f.txt"].join("/"), "x");
  await signInAsOwner(fixture);
  await openFolder(fixture, "deep", ...folders);
  await entry(page, "f.txt").waitFor();
  await inspect(page, "deep");
  const search = await page.getByRole("searchbox").boundingBox();
  assert(search !== null && search.width >= 180 && search.y < 80);
  await page.getByRole("button", { name: "Folders in between" }).click();
  assertEquals(await page.getByRole("menuitem").allInnerTexts(), folders.slice(0, 6));
  await page.getByRole("menuitem").nth(4).click();
  await entry(page, folders[5] ?? "").waitFor();
});

test("Returning to the page shows what others changed, and keeps the selection", async (fixture) => {
  const page = await open(fixture);
  const photos = fixture.project.drive("photos");
  await entry(page, "clip.mp4").click();
  await photos.put("added.txt", "by someone else");
  await photos.delete(["beep.wav"]);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await entry(page, "added.txt").waitFor();
  await entry(page, "beep.wav").waitFor({ state: "detached" });
  assertEquals(await selectedRows(page).getAttribute("aria-label"), "clip.mp4");
});
