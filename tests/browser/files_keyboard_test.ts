import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import type { Fixture } from "./support/fixture.ts";
import { dialog, signInAsOwner } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Files with the keyboard");

/** Opens a drive with two folders and the files a1 to a9, b and cherry. */
async function open(fixture: Fixture): Promise<Page> {
  const drive = fixture.project.drive("keys");
  const names = ["docs/x", "trip/y", "b", "cherry", ..."123456789"].map((name) =>
    /\d/.test(name) ? `a${name}` : name
  );
  for (const name of names) await drive.put(name, name);
  await signInAsOwner(fixture);
  await openFolder(fixture, "keys");
  await entry(fixture.page, "docs").waitFor();
  return fixture.page;
}

/** The labels of the selected rows, and that of the row with the focus. */
async function state(page: Page): Promise<[selected: string, focus: string]> {
  return await page.evaluate(() => {
    // A frame passes until the focus follows.
    return new Promise((resolve) =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          const selected = [...document.querySelectorAll("[role=row][aria-selected=true]")];
          const labels = selected.map((row) => row.getAttribute("aria-label")).join(" ");
          resolve([labels, document.activeElement?.getAttribute("aria-label") ?? ""]);
        })
      )
    );
  });
}

async function press(page: Page, ...keys: string[]): Promise<[string, string]> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await state(page);
  }
  return await state(page);
}

test("Arrows, Home and End move and select; Shift makes a range", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "docs").focus();
  assertEquals(await press(page, "ArrowDown"), ["trip", "trip"]);
  assertEquals(await press(page, "ArrowDown", "ArrowDown"), ["a2", "a2"]);
  assertEquals(await press(page, "Shift+ArrowDown", "Shift+ArrowDown"), ["a2 a3 a4", "a4"]);
  assertEquals(await press(page, "Shift+ArrowUp"), ["a2 a3", "a3"]);
  assertEquals(await press(page, "End"), ["cherry", "cherry"]);
  assertEquals(await press(page, "ArrowDown"), ["cherry", "cherry"]);
  assertEquals(await press(page, "Home"), ["docs", "docs"]);
  assertEquals(await press(page, "Shift+End"), [
    "docs trip a1 a2 a3 a4 a5 a6 a7 a8 a9 b cherry",
    "cherry",
  ]);
  assertEquals(await press(page, "Escape"), ["", "cherry"]);
});

test("Ctrl leaves the selection, Ctrl-Space toggles, Ctrl-A selects everything", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "a1").click();
  assertEquals(await press(page, "Control+ArrowDown", "Control+ArrowDown"), ["a1", "a3"]);
  assertEquals(await press(page, "Control+Space"), ["a1 a3", "a3"]);
  assertEquals(await press(page, "Control+Space"), ["a1", "a3"]);
  const [all] = await press(page, "Control+a");
  assertEquals(all.split(" ").length, 13);
  await page.getByRole("toolbar", { name: "Selected files" }).getByText("13 selected").waitFor();
});

test("Letters find a name, and Enter opens a folder and returns with Back", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "docs").focus();
  assertEquals(await press(page, "c"), ["cherry", "cherry"]);
  await page.waitForTimeout(800);
  await page.keyboard.type("a5");
  assertEquals(await state(page), ["a5", "a5"]);
  await page.waitForTimeout(800);
  await press(page, "t", "Enter");
  await entry(page, "y").waitFor();
  // The keyboard goes on in the list.
  assertEquals(await press(page, "ArrowDown"), ["y", "y"]);
  await page.goBack();
  await entry(page, "trip").waitFor();
  assertEquals((await state(page))[1], "trip");
});

test("In the grid the arrows move in both directions", async (fixture) => {
  const page = await open(fixture);
  await page.getByRole("button", { name: "Show as grid" }).click();
  await entry(page, "docs").focus();
  assertEquals(await press(page, "ArrowRight", "ArrowRight"), ["a1", "a1"]);
  const [below] = await press(page, "ArrowDown");
  const [first, second] = await Promise.all(
    ["a1", below].map(async (name) => await entry(page, name).boundingBox()),
  );
  assertEquals(second?.x, first?.x);
  assertEquals(await press(page, "ArrowUp", "ArrowLeft"), ["trip", "trip"]);
});

test("The menu key opens the menu of the entry, and the focus returns to it", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "a1").focus();
  await press(page, "ArrowDown", "Shift+F10");
  await page.getByRole("menu", { name: "Actions" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  assertEquals(await state(page), ["a2", "a2"]);
});

test("Tab passes the list in one step", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "a4").click();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  assertEquals(await state(page), ["a4", "a4"]);
});

test("Entries are copied, cut and pasted, also by another tab", async (fixture) => {
  const page = await open(fixture);
  const drive = fixture.project.drive("keys");
  await entry(page, "a1").click();
  await page.keyboard.down("Shift");
  await entry(page, "a2").click();
  await page.keyboard.up("Shift");
  await page.keyboard.press("Control+c");
  await page.getByText("Copied 2 items: paste it in a folder").waitFor();
  await openFolder(fixture, "keys", "docs");
  await entry(page, "x").waitFor();
  await page.keyboard.press("Control+v");
  await entry(page, "a2").waitFor();
  assertEquals(await drive.text("docs/a1"), "a1");
  assertEquals(await drive.text("a1"), "a1");
  await entry(page, "x").click();
  await page.keyboard.press("Control+x");
  const tab = await fixture.context.newPage();
  await tab.goto(page.url());
  await entry(tab, "x").waitFor();
  await openFolder(fixture.withPage(tab), "keys", "trip");
  await entry(tab, "y").waitFor();
  await tab.keyboard.press("Control+v");
  await entry(tab, "x").waitFor();
  assertEquals(await drive.text("trip/x"), "docs/x");
  // In a field the keys work on its text.
  await tab.keyboard.press("/");
  await tab.keyboard.press("Control+v");
  assertEquals(await tab.getByRole("searchbox").inputValue(), "docs/x");
  await tab.close();
  assertEquals((await drive.names()).includes("docs/x"), false);
});

test("Keys search, go up, undo, and list themselves", async (fixture) => {
  const page = await open(fixture);
  await fixture.project.call("PATCH", "", { body: { trash_days: 7 } });
  await entry(page, "docs").focus();
  await page.keyboard.press("?");
  const help = dialog(page, "Keyboard shortcuts");
  await help.getByText("Copy, cut and paste").waitFor();
  await inspect(page, "shortcuts");
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.getByRole("searchbox").and(page.locator(":focus")).waitFor();
  await openFolder(fixture, "keys", "trip");
  await entry(page, "y").click();
  await page.keyboard.press("Delete");
  await page.getByText("Moved “y” to trash").waitFor();
  await page.keyboard.press("Control+z");
  await entry(page, "y").waitFor();
  await page.keyboard.press("Alt+ArrowUp");
  await entry(page, "cherry").waitFor();
});

test("A menu selects everything", async (fixture) => {
  const page = await open(fixture);
  await entry(page, "a1").click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Select all" }).click();
  const bar = page.getByRole("toolbar", { name: "Selected files" });
  await bar.getByText("13 selected").waitFor();
});

test("A space within a typed name is a letter", async (fixture) => {
  const page = await open(fixture);
  await fixture.project.drive("keys").putAll(["my file", "my thing"]);
  await page.getByRole("button", { name: "Refresh" }).click();
  await entry(page, "my thing").waitFor();
  await entry(page, "docs").focus();
  await page.keyboard.type("my t");
  assertEquals(await state(page), ["my thing", "my thing"]);
  // No name goes on with a space.
  await page.keyboard.press("Space");
  await dialog(page, "my thing").waitFor();
});

test("Ctrl-A selects what a filter left, also after a click beside the list", async (fixture) => {
  const page = await open(fixture);
  await page.getByRole("button", { name: "Kind" }).click();
  await page.getByRole("menuitemradio", { name: "Folders" }).click();
  await entry(page, "cherry").waitFor({ state: "detached" });
  assertEquals(await press(page, "Control+a"), ["docs trip", "docs"]);
});

/** Makes frames of the page take a second, as in a browser that is busy. */
async function slowDown({ page }: Fixture): Promise<void> {
  await page.addInitScript(() => {
    globalThis.requestAnimationFrame = (run) =>
      Number(setTimeout(() => run(performance.now()), 1000));
  });
}

test("Keys work in a folder as soon as it is shown, also in a slow browser", async (fixture) => {
  await slowDown(fixture);
  const page = await open(fixture);
  await entry(page, "trip").click();
  await page.keyboard.press("Enter");
  await entry(page, "y").waitFor();
  await page.keyboard.press("ArrowDown");
  await entry(page, "y").and(page.locator("[aria-selected=true]:focus")).waitFor();
});

test("The field of a name keeps the focus when the list follows an earlier click", async (fixture) => {
  await slowDown(fixture);
  const page = await open(fixture);
  await entry(page, "a1").click();
  await page.keyboard.press("F2");
  await page.keyboard.press("Escape");
  await entry(page, "a2").click();
  await page.keyboard.press("F2");
  await page.waitForTimeout(1500);
  const field = page.getByRole("textbox", { name: "New name of a2" });
  await field.and(page.locator(":focus")).waitFor();
});

test("Keys work in the list as soon as Escape is pressed in the field of a name, also in a slow browser", async (fixture) => {
  await slowDown(fixture);
  const page = await open(fixture);
  await entry(page, "a1").click();
  await page.keyboard.press("F2");
  await page.keyboard.press("Escape");
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "New name of a1" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowDown");
  await entry(page, "a2").and(page.locator("[aria-selected=true]")).waitFor();
});

test("The keys work as soon as a list is there, and Ctrl-A selects its files", async (fixture) => {
  const page = await open(fixture);
  assertEquals(await press(page, "ArrowDown"), ["trip", "trip"]);
  await page.reload();
  await entry(page, "docs").waitFor();
  const [all] = await press(page, "Control+a");
  assertEquals(all.split(" ").length, 13);
  assertEquals(await page.evaluate(() => getSelection()?.toString()), "");
});

test("What is renamed, created, pasted and duplicated is selected and shown", async (fixture) => {
  const { project } = fixture;
  const names = Array.from({ length: 150 }, (_, at) => `m${100 + at}`);
  await project.drive("keys").putAll(names);
  const page = await open(fixture);
  const isVisible = async (label: string) => {
    await entry(page, label).waitFor();
    await page.locator(`[role=row][aria-selected=true][aria-label="${label}"]:focus`).waitFor();
    const box = await entry(page, label).boundingBox();
    assert(box !== null && box.y > 0 && box.y < 800, `${label} is out of sight`);
  };
  await entry(page, "a1").click();
  await page.keyboard.press("F2");
  await page.keyboard.type("zzz");
  await page.keyboard.press("Enter");
  await isVisible("zzz");
  await press(page, "Home");
  await page.getByRole("button", { name: "New folder" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("zoo");
  await page.keyboard.press("Enter");
  await isVisible("zoo");
  await entry(page, "docs").waitFor();
  await press(page, "End");
  await page.keyboard.press("Control+c");
  await press(page, "Home");
  await page.keyboard.press("Control+v");
  await isVisible("zzz (2)");
  await entry(page, "zzz (2)").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await isVisible("zzz (3)");
  await page.getByRole("grid").click({ button: "right", position: { x: 4, y: 4 } });
  await page.keyboard.press("Escape");
});

test("The filters of a list are in its address", async (fixture) => {
  const page = await open(fixture);
  await page.getByRole("group", { name: "Filters" }).getByRole("button", { name: "Kind" }).click();
  await page.getByRole("menuitemradio", { name: "Folders" }).click();
  await entry(page, "a1").waitFor({ state: "detached" });
  await page.reload();
  await entry(page, "trip").waitFor();
  assertEquals(await page.getByRole("grid").getByRole("row", { name: "a1" }).count(), 0);
});
