import { assert, assertEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import { readZip } from "../support/archive/zip_reader.ts";
import type { Drive } from "../support/drive.ts";
import { DESKTOP, type Fixture, PHONE } from "./support/fixture.ts";
import { dialog, openSection, row, signInAsOwner, submitSecret } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder, waitUntil } from "./support/uploads.ts";

const test = suite("Actions on files");

/** Signs in and opens a drive with some files. The trash is on unless `days` is 0. */
async function openDrive(fixture: Fixture, days = 30): Promise<Drive> {
  const { project } = fixture;
  const drive = project.drive("docs");
  for (const name of ["a.txt", "b.txt", "trip/one.txt", "trip/2026/two.txt", "other/x.txt"]) {
    await drive.put(name, `content of ${name}`);
  }
  await project.call("PATCH", "", { body: { trash_days: days } });
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(fixture.page, "a.txt").waitFor();
  return drive;
}

function toast({ page }: Fixture, text: string | RegExp): Locator {
  return page.getByRole("status").filter({ hasText: text });
}

async function choose({ page }: Fixture, name: string, action: string): Promise<void> {
  await entry(page, name).click({ button: "right" });
  await page.getByRole("menuitem", { name: action }).click();
}

async function waitForNames(drive: Drive, names: string[]): Promise<void> {
  await waitUntil(
    async () => (await drive.names()).toSorted().join() === names.toSorted().join(),
    `the names ${names}, instead of ${await drive.names()}`,
  );
}

test("A name is edited in its place, with the keyboard alone, and the move can be undone.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture);
  await entry(page, "a.txt").click();
  await page.keyboard.press("F2");
  const field = page.getByRole("textbox", { name: "New name of a.txt" });
  await field.waitFor();
  // The extension is not selected.
  await page.keyboard.type("renamed");
  await page.keyboard.press("Enter");
  await entry(page, "renamed.txt").waitFor();
  assertEquals(await drive.text("renamed.txt"), "content of a.txt");
  await toast(fixture, "Renamed to “renamed.txt”").getByRole("button", { name: "Undo" }).click();
  await entry(page, "a.txt").waitFor();
  await waitForNames(drive, [
    "a.txt",
    "b.txt",
    "trip/one.txt",
    "trip/2026/two.txt",
    "other/x.txt",
  ]);
});

test("A name that is taken or invalid is refused beside the field, and Escape keeps the old one.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture);
  await choose(fixture, "a.txt", "Rename");
  const field = page.getByRole("textbox", { name: "New name of a.txt" });
  await field.fill("b.txt");
  await field.press("Enter");
  await page.getByText("There is a “b.txt” already").waitFor();
  await field.fill("x/y");
  await field.press("Enter");
  await page.getByText("A name cannot contain “/”").waitFor();
  await field.press("Escape");
  await entry(page, "a.txt").waitFor();
  assertEquals((await drive.names()).length, 5);
});

test("Leaving the field of a name keeps the focus where the user went.", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture);
  await entry(page, "a.txt").click();
  await page.keyboard.press("F2");
  // The field has the focus at once.
  await page.keyboard.press("Escape");
  assertEquals(await page.getByRole("textbox", { name: /New name/ }).count(), 0);
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "New name of a.txt" }).waitFor();
  await page.getByRole("searchbox").click();
  await page.getByRole("textbox", { name: /New name/ }).waitFor({ state: "detached" });
  await page.waitForTimeout(100);
  await page.keyboard.type("b");
  assertEquals(await page.getByRole("searchbox").inputValue(), "b");
});

test("A folder is renamed with everything in it.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture);
  await choose(fixture, "trip", "Rename");
  const field = page.getByRole("textbox", { name: "New name of trip" });
  await field.fill("journey");
  await field.press("Enter");
  await entry(page, "journey").waitFor();
  await waitForNames(drive, [
    "a.txt",
    "b.txt",
    "journey/one.txt",
    "journey/2026/two.txt",
    "other/x.txt",
  ]);
});

test("Files are moved to a folder of the tree, and copied to another drive.", async (fixture) => {
  const { page, project } = fixture;
  const drive = await openDrive(fixture);
  await project.drive("second").put("seed", "x");
  await entry(page, "a.txt").click();
  await entry(page, "b.txt").click({ modifiers: ["Control"] });
  await choose(fixture, "b.txt", "Move to…");
  const move = dialog(page, "Move 2 items");
  await move.getByRole("button", { name: "other", exact: true }).click();
  await inspect(page, "move-dialog");
  await move.getByRole("button", { name: "Move here" }).click();
  await waitForNames(drive, [
    "other/a.txt",
    "other/b.txt",
    "trip/one.txt",
    "trip/2026/two.txt",
    "other/x.txt",
  ]);
  await choose(fixture, "trip", "Copy to…");
  const copy = dialog(page, "Copy “trip”");
  await copy.getByRole("button", { name: "second", exact: true }).click();
  await copy.getByRole("button", { name: "Copy here" }).click();
  await toast(fixture, "Copied “trip”").waitFor();
  await waitForNames(project.drive("second"), ["seed", "trip/one.txt", "trip/2026/two.txt"]);
});

test("The tree of folders is in natural order, and shows a folder that is created in it.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture);
  await drive.putAll(["trip/img10/x", "trip/img2/x"]);
  await choose(fixture, "a.txt", "Move to…");
  const move = dialog(page, "Move “a.txt”");
  await move.getByRole("button", { name: "Folders in trip" }).click();
  await move.getByRole("button", { name: "img10", exact: true }).waitFor();
  const labels = await move.locator(".tree-label").allInnerTexts();
  assertEquals(labels, ["docs", "other", "trip", "2026", "img2", "img10"]);
  await move.getByRole("button", { name: "img10", exact: true }).click();
  await move.getByRole("button", { name: "New folder" }).click();
  await dialog(page, "New folder").getByRole("textbox", { name: "Name" }).fill("deep");
  await dialog(page, "New folder").getByRole("button", { name: "Create" }).click();
  await move.getByRole("button", { name: "deep", exact: true, pressed: true }).waitFor();
  await move.getByRole("button", { name: "Move here" }).click();
  await waitUntil(
    async () => (await drive.names()).includes("trip/img10/deep/a.txt"),
    "the moved file",
  );
});

test("Conflicts are asked once: replace, keep both or skip.", async (fixture) => {
  const { page, project } = fixture;
  const drive = await openDrive(fixture);
  await drive.put("other/a.txt", "already there");
  const moveTo = async (name: string) => {
    await choose(fixture, name, "Copy to…");
    const copy = dialog(page, `Copy “${name}”`);
    await copy.getByRole("button", { name: "other", exact: true }).click();
    await copy.getByRole("button", { name: "Copy here" }).click();
  };
  await moveTo("a.txt");
  const question = dialog(page, "“a.txt” exists already");
  await question.waitFor();
  await inspect(page, "conflict");
  await question.getByRole("button", { name: "Skip" }).click();
  assertEquals(await drive.text("other/a.txt"), "already there");
  await moveTo("a.txt");
  await question.getByRole("button", { name: "Keep both" }).click();
  await waitUntil(
    async () => (await drive.names()).includes("other/a (2).txt"),
    "the second file of the name",
  );
  assertEquals(await drive.text("other/a.txt"), "already there");
  await moveTo("a.txt");
  await question.getByRole("button", { name: "Replace" }).click();
  await waitUntil(
    async () => await drive.text("other/a.txt") === "content of a.txt",
    "the replaced file",
  );
  assert(project.id.length > 0);
});

test("Files are moved by dragging them to a folder.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture);
  await entry(page, "a.txt").dragTo(entry(page, "trip"));
  await entry(page, "a.txt").waitFor({ state: "detached" });
  await waitUntil(async () => (await drive.names()).includes("trip/a.txt"), "the moved file");
});

test("A new folder shows at once, although nothing is in it.", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture);
  await page.getByRole("button", { name: "New folder" }).first().click();
  const form = dialog(page, "New folder");
  await form.getByRole("textbox", { name: "Name" }).fill("trip");
  await form.getByRole("button", { name: "Create" }).click();
  await form.getByText("There is a “trip” already").waitFor();
  await form.getByRole("textbox", { name: "Name" }).fill("empty one");
  await form.getByRole("button", { name: "Create" }).click();
  await entry(page, "empty one").waitFor();
  await page.reload();
  await entry(page, "empty one").waitFor();
});

test("Deleted files go to the trash, and Undo brings them back.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture);
  await entry(page, "a.txt").click();
  await entry(page, "trip").click({ modifiers: ["Control"] });
  await page.keyboard.press("Delete");
  await toast(fixture, "Moved 2 items to trash").waitFor();
  await entry(page, "trip").waitFor({ state: "detached" });
  await waitForNames(drive, ["b.txt", "other/x.txt"]);
  await page.getByRole("button", { name: "Undo" }).click();
  await entry(page, "trip").waitFor();
  await waitForNames(drive, [
    "a.txt",
    "b.txt",
    "trip/one.txt",
    "trip/2026/two.txt",
    "other/x.txt",
  ]);
});

test("Without a trash a question comes first.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, 0);
  await entry(page, "a.txt").click();
  await page.keyboard.press("Delete");
  const question = dialog(page, "Delete “a.txt”?");
  await question.getByText("The trash is off, so this cannot be undone.").waitFor();
  await inspect(page, "delete-question");
  await question.getByRole("button", { name: "Cancel" }).click();
  assertEquals((await drive.names()).length, 5);
  await entry(page, "a.txt").click();
  await page.keyboard.press("Delete");
  await question.getByRole("button", { name: "Delete", exact: true }).click();
  await entry(page, "a.txt").waitFor({ state: "detached" });
  assertEquals((await drive.names()).length, 4);
});

test("A key that does not administer the project is told the truth about its trash.", async (fixture) => {
  const { page, project, server } = fixture;
  await openDrive(fixture);
  const { project_key } = await project.makeKey({ permissions: ["list", "write", "delete"] });
  await fixture.context.clearCookies();
  await page.goto(server.origin);
  await submitSecret(page, project_key);
  await page.waitForURL(/#\/p\//);
  await openFolder(fixture, "docs");
  await entry(page, "a.txt").click();
  await page.keyboard.press("Delete");
  await toast(fixture, "Moved “a.txt” to trash").waitFor();
  await project.call("PATCH", "", { body: { trash_days: 0 } });
  await entry(page, "b.txt").click();
  await page.keyboard.press("Delete");
  await dialog(page, "Delete “b.txt”?").getByText("The trash is off").waitFor();
});

test("The trash lists, restores and is emptied.", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture);
  await drive.delete(["a.txt", "trip/one.txt"]);
  await drive.put("b.txt", "newer");
  await openSection(page, "Trash");
  await row(page, "one.txt").waitFor();
  await inspect(page, "trash");
  await page.getByRole("button", { name: "Restore one.txt" }).click();
  await toast(fixture, "Restored 1 file").waitFor();
  assert((await drive.names()).includes("trip/one.txt"));
  // The name is in use: the file that has it is replaced after a question only, and goes to the trash itself.
  const restore = page.getByRole("button", { name: "Restore b.txt" });
  const question = dialog(page, "“b.txt” exists already");
  await restore.click();
  await question.getByRole("button", { name: "Skip" }).click();
  assertEquals(await drive.text("b.txt"), "newer");
  await restore.click();
  await question.getByRole("button", { name: "Replace" }).click();
  await row(page, "b.txt").getByText("5 B").waitFor();
  await toast(fixture, "Restored 1 file").last().waitFor();
  assertEquals(await drive.text("b.txt"), "content of b.txt");
  await page.getByRole("button", { name: "Empty trash" }).click();
  await dialog(page, "Empty the trash?").getByRole("button", { name: "Delete for good" }).click();
  await page.getByText("The trash is empty").waitFor();
});

test("Pages of the trash are restored and deleted together, and the rest is shown then.", async (fixture) => {
  const { page, project } = fixture;
  const drive = await openDrive(fixture);
  const names = Array.from({ length: 1100 }, (_, index) => `n${index}`);
  await drive.putAll(names);
  await drive.delete(names.slice(0, 100));
  await drive.delete(names.slice(100));
  await openSection(page, "Trash");
  const all = page.getByRole("checkbox", { name: "Select all" });
  await all.check();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await toast(fixture, "Restored 1,000 files").waitFor();
  await row(page, "n0").waitFor();
  await drive.delete(names.slice(100));
  await page.reload();
  await page.getByRole("button", { name: "Show more" }).click();
  await row(page, "n0").waitFor();
  await all.check();
  await page.getByRole("button", { name: "Delete for good" }).click();
  await dialog(page, "Delete 1,100 files?").getByRole("button", { name: "Delete for good" })
    .click();
  await page.getByText("The trash is empty").waitFor();
  const body = (await project.files("GET", "/docs/trash")).expect(200).json;
  assertEquals(body, { items: [] });
});

test("One file is downloaded natively, several as a ZIP.", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture);
  const [one] = await Promise.all([
    page.waitForEvent("download"),
    choose(fixture, "a.txt", "Download"),
  ]);
  assertEquals(one.suggestedFilename(), "a.txt");
  assertEquals(await Deno.readTextFile(await one.path()), "content of a.txt");
  assert(!one.url().startsWith("blob:"));
  await entry(page, "a.txt").click();
  await entry(page, "trip").click({ modifiers: ["Control"] });
  const [zip] = await Promise.all([
    page.waitForEvent("download"),
    choose(fixture, "trip", "Download"),
  ]);
  assertEquals(zip.suggestedFilename(), "docs.zip");
  const names = readZip(await Deno.readFile(await zip.path())).map(({ path }) => path);
  assertEquals(names.toSorted(), ["a.txt", "trip/2026/two.txt", "trip/one.txt"]);
});

test("The menu of a file is usable on a phone.", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture);
  await page.setViewportSize(PHONE);
  await entry(page, "a.txt").getByRole("button", { name: "Actions for a.txt" }).click();
  await page.getByRole("menuitem", { name: "Download" }).waitFor();
  await inspect(page, "menu");
  await page.keyboard.press("Escape");
  await page.setViewportSize(DESKTOP);
});
