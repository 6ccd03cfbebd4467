import { assertStringIncludes } from "@std/assert";
import type { Locator } from "playwright-core";
import { dialog, openSection, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("What a screen reader is told");

/** Fails unless the tree of accessible names and roles has these lines. */
async function assertTree(locator: Locator, lines: readonly string[]): Promise<void> {
  const tree = await locator.ariaSnapshot();
  for (const line of lines) assertStringIncludes(tree, line);
}

test("The sign-in names its field and its problem.", async ({ page, server }) => {
  await page.goto(server.origin);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Enter the administrator’s token or a project key").waitFor();
  await assertTree(page.locator("body"), [
    "- main:",
    '- heading "Sign in to kvdrive" [level=1]',
    '- textbox "Administrator’s token or project key"',
    '- button "Sign in"',
  ]);
});

test("A folder is a grid with selectable rows, between navigation and tools.", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("docs").put("trip/one.txt", "1");
  await project.drive("docs").put("a.txt", "a");
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(page, "a.txt").click();
  await assertTree(page.locator("body"), [
    '- navigation "Project":',
    '- link "Files"',
    '- navigation "Folders":',
    '- toolbar "Selected files":',
    '- grid "Files in docs"',
    '- row "trip"',
    '- row "a.txt" [selected]',
  ]);
});

test("Menus, dialogs and messages have names and roles.", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("docs").put("a.txt", "a");
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(page, "a.txt").click({ button: "right" });
  await assertTree(page.getByRole("menu"), ['- menuitem "Download"', '- menuitem "Rename"']);
  await page.keyboard.press("Escape");
  await entry(page, "a.txt").click();
  await page.keyboard.press("Delete");
  const question = dialog(page, "Delete “a.txt”?");
  await assertTree(question, ['- heading "Delete “a.txt”?" [level=2]', '- button "Cancel"']);
  await question.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("status").filter({ hasText: "Deleted “a.txt”" }).waitFor();
});

test("Tables name their columns, and fields their hints.", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await openSection(page, "Keys");
  await page.getByRole("rowheader").first().waitFor();
  await assertTree(page.getByRole("table"), ['- columnheader "Name"', "- rowheader"]);
  await page.getByRole("button", { name: "New key" }).click();
  await assertTree(dialog(page, "New key"), [
    '- textbox "Name"',
    '- group "The key may":',
    '- checkbox "Read" [checked]',
    '- combobox "Expires"',
  ]);
});
