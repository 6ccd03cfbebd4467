import { assert, assertEquals, assertLess } from "@std/assert";
import { PHONE } from "./support/fixture.ts";
import { dialog, signInAsAdministrator, signInAsOwner } from "./support/navigation.ts";
import { openSample } from "./support/sample_project.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Small screens");

test("A phone shows the project, a sheet as menu, and Upload beside a selection", async (fixture) => {
  await openSample(fixture);
  const { page } = fixture;
  await page.setViewportSize(PHONE);
  await page.getByText("Photo album", { exact: true }).waitFor();
  await entry(page, "view.png").getByRole("button").last().click();
  const menu = page.getByRole("menu");
  const box = (await menu.boundingBox())!;
  assertEquals([box.x, box.width, Math.round(box.y + box.height)], [
    0,
    PHONE.width,
    PHONE.height,
  ]);
  assertEquals(await menu.locator("kbd").first().isVisible(), false);
  await page.keyboard.press("Escape");
  await entry(page, "archive.zip").click({ modifiers: ["Control"] });
  await page.getByRole("toolbar", { name: "Selected files" }).waitFor();
  assert(await page.getByRole("button", { name: "Upload" }).isVisible());
  await inspect(page, "phone-selection");
});

test("The name gets the room on a tablet, and beside the details", async (fixture) => {
  await openSample(fixture);
  const { page } = fixture;
  const share = async () => {
    const name = (await entry(page, "view.png").locator(".entry-main").boundingBox())!;
    const row = (await entry(page, "view.png").boundingBox())!;
    return name.width / row.width;
  };
  await page.setViewportSize({ width: 768, height: 1024 });
  assertLess(0.45, await share());
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Details" }).click();
  assertLess(0.45, await share());
});

test("Nothing is moved to where it is", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("docs").putAll(["a.txt", "trip/b.txt"]);
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(page, "a.txt").click();
  await page.getByRole("button", { name: "Move to…" }).click();
  const move = dialog(page, "Move “a.txt”");
  const here = move.getByRole("button", { name: "Move here" });
  await here.waitFor();
  assertEquals(await here.isEnabled(), false);
  await move.getByRole("button", { name: "trip", exact: true }).click();
  assertEquals(await here.isEnabled(), true);
});

test("A phone has what is not in its bar in a menu with groups, each entry with a name of its own.", async (fixture) => {
  const { page, project } = fixture;
  await signInAsAdministrator(fixture);
  await page.getByRole("link", { name: new RegExp(project.id) }).first().click();
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  await page.setViewportSize(PHONE);
  await page.getByRole("button", { name: "More" }).click();
  const labels = await page.getByRole("menuitem").allInnerTexts();
  assertEquals(labels, [...new Set(labels)]);
  const groups = { Project: "Keys", Server: "Health", Account: "Sessions" };
  for (const [name, entry] of Object.entries(groups)) {
    const group = page.getByRole("group", { name });
    assertEquals(await group.getByRole("menuitem", { name: entry }).count(), 1);
  }
  await inspect(page, "more");
});
