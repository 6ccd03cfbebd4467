import { assertEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import type { Fixture } from "./support/fixture.ts";
import { dialog, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("The focus and dialogs");

async function openDrive(fixture: Fixture): Promise<void> {
  await fixture.project.drive("docs").put("a.txt", "a");
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(fixture.page, "a.txt").waitFor();
}

/** Waits until an element has the focus. */
async function waitForFocus({ page }: Fixture, element: Locator): Promise<void> {
  await element.and(page.locator(":focus")).waitFor();
}

test("A form begins at its first field, and gives the focus back", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture);
  const button = page.getByRole("button", { name: "New folder" });
  await button.click();
  await dialog(page, "New folder").waitFor();
  await page.keyboard.type("typed at once");
  await waitForFocus(fixture, page.getByRole("textbox", { name: "Name" }));
  await page.keyboard.press("Escape");
  await waitForFocus(fixture, button);
  await button.click();
  await page.keyboard.type("typed at once");
  await page.keyboard.press("Enter");
  await entry(page, "typed at once").waitFor();
});

test("A question that was opened with a key gives the focus back to the list", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture);
  await entry(page, "a.txt").click();
  await page.keyboard.press("Delete");
  const question = dialog(page, "Delete “a.txt”?");
  await waitForFocus(fixture, question.getByRole("button", { name: "Cancel" }));
  await page.keyboard.press("Escape");
  await waitForFocus(fixture, entry(page, "a.txt"));
});

test("A dialog of a dialog gives the focus back to it", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture);
  await entry(page, "a.txt").click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Copy to…" }).click();
  const button = dialog(page, "Copy “a.txt”").getByRole("button", { name: "New folder" });
  await button.click();
  await dialog(page, "New folder").waitFor();
  await page.keyboard.press("Escape");
  await waitForFocus(fixture, button);
  await page.keyboard.press("Escape");
  await waitForFocus(fixture, page.getByRole("button", { name: "More actions" }));
});

test("Only the chosen entry of a menu stands out", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await page.getByRole("button", { name: /^Key / }).click();
  const menu = page.getByRole("menu", { name: "Account" });
  await menu.waitFor();
  const bold = await menu.locator(".menu-entry").evaluateAll((entries) =>
    entries.filter((entry) =>
      getComputedStyle(entry.querySelector(".menu-label")!).fontWeight >= "600"
    ).map(({ textContent }) => textContent)
  );
  assertEquals(bold, ["As the system"]);
});
