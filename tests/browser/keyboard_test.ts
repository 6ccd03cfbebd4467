import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { utf8 } from "../support/bytes.ts";
import { dialog } from "./support/desk.ts";
import { stories } from "./support/stories.ts";
import { entry, file } from "./support/uploads.ts";

/** A person gives up before that. */
const STEPS = 40;

const story = stories("The keyboard alone");

/** Presses Tab until something has the focus; wherever it comes by, the focus can be seen. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < STEPS; step++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
    await assertFocusSeen(page);
  }
  throw new Error(`Tab never came to ${target}`);
}

async function assertFocusSeen(page: Page): Promise<void> {
  const problem = await page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return "";
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { width, height, bottom, right } = element.getBoundingClientRect();
    const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && width > 0 &&
      height > 0 && bottom > 0 && right > 0;
    return isSeen ? "" : element.outerHTML.slice(0, 200);
  });
  assertEquals(problem, "", "The focus cannot be seen");
}

async function press(page: Page, target: Locator, key = "Enter"): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Makes a project with an id of its own, which is open then. */
async function makeProject(page: Page): Promise<void> {
  await press(page, page.getByRole("button", { name: "New project" }));
  await tabTo(page, dialog(page, "New project").getByLabel("Project id"));
  await page.keyboard.type(`keys-${crypto.randomUUID()}`);
  await press(page, page.getByRole("button", { name: "Create project" }));
  await press(page, page.getByRole("button", { name: "I have copied it" }));
}

/** Uploads three files into a new drive, which is open then. */
async function uploadFiles(page: Page): Promise<void> {
  await press(page, page.getByRole("link", { name: "Files", exact: true }));
  await tabTo(page, page.getByLabel("Name of the drive"));
  await page.keyboard.type("photos");
  await tabTo(page, page.getByRole("button", { name: "Upload files" }));
  const [asked] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.keyboard.press("Enter"),
  ]);
  const chosen = ["a.txt", "b.txt", "c.txt"].map((name) => file(name, utf8(`In ${name}`)));
  await asked.setFiles(chosen);
  await page.getByRole("heading", { level: 1, name: "photos" }).waitFor();
  await entry(page, "c.txt").waitFor();
}

/** Opens the second file and comes back to its row. */
async function openSecond(page: Page): Promise<void> {
  await tabTo(page, entry(page, "a.txt"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await dialog(page, "b.txt").getByText("In b.txt").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("b.txt"));
}

/** Selects the file of the row and the one below, and deletes both. */
async function deleteTwo(page: Page): Promise<void> {
  await page.keyboard.press("Space");
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByText("2 entries selected").waitFor();
  await page.keyboard.press("Delete");
  await press(page, page.getByRole("button", { name: "Delete 2 files" }));
  await entry(page, "c.txt").waitFor({ state: "detached" });
  assertEquals(await page.getByRole("grid").getByRole("row").count(), 2, "The head and one file");
}

story("Sign in, make a project, upload, look, delete, sign out.", async ({ page, server }) => {
  await page.goto(server.origin);
  await page.keyboard.type(ADMIN_TOKEN);
  await page.keyboard.press("Enter");
  await makeProject(page);
  await uploadFiles(page);
  await openSecond(page);
  await deleteTwo(page);
  await press(page, page.getByRole("button", { name: "Sign out" }));
  await page.getByRole("heading", { name: "Sign in to kvdrive" }).waitFor();
});

story(
  "A dialog keeps the focus, and gives it back where it was.",
  async ({ page, server, project }) => {
    await page.goto(server.origin);
    await page.keyboard.type(project.key);
    await page.keyboard.press("Enter");
    const opener = page.getByRole("button", { name: "New key" });
    await press(page, opener);
    const asked = dialog(page, "New key");
    for (let step = 0; step < 8; step++) {
      await page.keyboard.press("Tab");
      const isInside = await asked.evaluate((element) =>
        element.contains(document.activeElement) || document.activeElement === document.body
      );
      assert(isInside, "The focus left the dialog");
    }
    await page.keyboard.press("Escape");
    await asked.waitFor({ state: "detached" });
    assert(await opener.evaluate((element) => element === document.activeElement));
  },
);

story("The head of the page can be passed over.", async ({ page, server, project }) => {
  await page.goto(server.origin);
  await page.keyboard.type(project.key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Keys & usage" }).waitFor();
  await page.getByRole("button", { name: "Skip to the content" }).focus();
  await assertFocusSeen(page);
  await page.keyboard.press("Enter");
  assert(await page.getByRole("main").evaluate((main) => main === document.activeElement));
});
