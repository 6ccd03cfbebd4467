import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { utf8 } from "../support/bytes.ts";
import { dialog } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, file } from "./support/uploads.ts";

/** Maximum number of Tab presses to reach an element. */
const MAX_STEPS = 40;

const test = suite("The keyboard alone");

/** Presses Tab until an element has the focus. The focus must be visible at every step. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < MAX_STEPS; step++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
    await assertFocusVisible(page);
  }
  throw new Error(`${MAX_STEPS} presses of Tab do not reach ${target}`);
}

async function assertFocusVisible(page: Page): Promise<void> {
  const problem = await page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return "";
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { width, height, bottom, right } = element.getBoundingClientRect();
    const isVisible = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && width > 0 &&
      height > 0 && bottom > 0 && right > 0;
    return isVisible ? "" : element.outerHTML.slice(0, 200);
  });
  assertEquals(problem, "", "The focus is not visible");
}

async function press(page: Page, target: Locator, key = "Enter"): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Waits until a view is shown. The page then moves the focus to its heading, from where Tab goes on. */
async function arriveAt(page: Page, heading: string): Promise<void> {
  await page.waitForFunction((text) => {
    const element = document.activeElement;
    return element?.tagName === "H1" && element.textContent === text;
  }, heading);
}

/** Creates a project, which the page then opens. */
async function createProject(page: Page): Promise<void> {
  await press(page, page.getByRole("button", { name: "New project" }));
  await tabTo(page, dialog(page, "New project").getByLabel("Project id"));
  await page.keyboard.type(`keys-${crypto.randomUUID()}`);
  await press(page, page.getByRole("button", { name: "Create project" }));
  await press(page, page.getByRole("button", { name: "I have copied it" }));
  await arriveAt(page, "Keys & usage");
}

/** Uploads three files into a new drive, which the page then opens. */
async function uploadFiles(page: Page): Promise<void> {
  await press(page, page.getByRole("link", { name: "Files", exact: true }));
  await arriveAt(page, "Drives");
  await tabTo(page, page.getByLabel("Name of the drive"));
  await page.keyboard.type("photos");
  await tabTo(page, page.getByRole("button", { name: "Upload files" }));
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.keyboard.press("Enter"),
  ]);
  const names = ["a.txt", "b.txt", "c.txt"];
  const chosen = names.map((name) => file(name, utf8(`In ${name}`)));
  await chooser.setFiles(chosen);
  await arriveAt(page, "photos");
  for (const name of names) await entry(page, name).waitFor();
}

/** Opens the second file and returns to its row. */
async function openSecond(page: Page): Promise<void> {
  await tabTo(page, entry(page, "a.txt"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await dialog(page, "b.txt").getByText("In b.txt").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("b.txt"));
}

/** Selects the focused row and the next one, and deletes both. */
async function deleteTwo(page: Page): Promise<void> {
  await page.keyboard.press("Space");
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByText("2 entries selected").waitFor();
  await page.keyboard.press("Delete");
  await press(page, page.getByRole("button", { name: "Delete 2 files" }));
  await entry(page, "c.txt").waitFor({ state: "detached" });
  assertEquals(await page.getByRole("grid").getByRole("row").count(), 2, "The header and one file");
}

test("A user signs in, creates a project, uploads, opens and deletes files, and signs out", async ({ page, server }) => {
  await page.goto(server.origin);
  await page.keyboard.type(ADMIN_TOKEN);
  await page.keyboard.press("Enter");
  await arriveAt(page, "Projects");
  await createProject(page);
  await uploadFiles(page);
  await openSecond(page);
  await deleteTwo(page);
  await press(page, page.getByRole("button", { name: "Sign out" }));
  await page.getByRole("heading", { name: "Sign in to kvdrive" }).waitFor();
});

test(
  "A dialog traps the focus and restores it when it closes",
  async ({ page, server, project }) => {
    await page.goto(server.origin);
    await page.keyboard.type(project.key);
    await page.keyboard.press("Enter");
    await arriveAt(page, "Keys & usage");
    const opener = page.getByRole("button", { name: "New key" });
    await press(page, opener);
    const form = dialog(page, "New key");
    for (let step = 0; step < 8; step++) {
      await page.keyboard.press("Tab");
      const isInside = await form.evaluate((element) =>
        element.contains(document.activeElement) || document.activeElement === document.body
      );
      assert(isInside, "The focus left the dialog");
    }
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    assert(await opener.evaluate((element) => element === document.activeElement));
  },
);

test("A skip button leads past the header", async ({ page, server, project }) => {
  await page.goto(server.origin);
  await page.keyboard.type(project.key);
  await page.keyboard.press("Enter");
  await arriveAt(page, "Keys & usage");
  await page.getByRole("button", { name: "Skip to the content" }).focus();
  await assertFocusVisible(page);
  await page.keyboard.press("Enter");
  assert(await page.getByRole("main").evaluate((main) => main === document.activeElement));
});
