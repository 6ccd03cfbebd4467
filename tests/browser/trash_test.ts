import { assertEquals, assertLess } from "@std/assert";
import type { Drive } from "../support/drive.ts";
import { DESKTOP, type Fixture } from "./support/fixture.ts";
import { dialog, openSection, row, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";

const test = suite("Trash");

/** More than one page of the trash has, and more than one call can name. */
const MANY = Array.from({ length: 1100 }, (_, index) => `f${1000 + index}`);

/** Opens the trash of a drive, from which everything was deleted. */
async function openTrash(fixture: Fixture, names: string[]): Promise<Drive> {
  const { project } = fixture;
  const drive = project.drive("docs");
  await project.call("PATCH", "", { body: { trash_days: 30 } });
  await drive.fill(names);
  for (let i = 0; i < names.length; i += 1000) await drive.delete(names.slice(i, i + 1000));
  await signInAsOwner(fixture);
  await openSection(fixture.page, "Trash");
  await row(fixture.page, names.at(-1) ?? "").waitFor();
  return drive;
}

test("The next page shows when all items of the first one are restored", async (fixture) => {
  const { page } = fixture;
  const drive = await openTrash(fixture, MANY);
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Restore", exact: true }).first().click();
  await row(page, "f1099").waitFor();
  assertEquals((await drive.names()).length, 1000);
});

test("More items than one call can name are deleted for good", async (fixture) => {
  const { page } = fixture;
  await openTrash(fixture, MANY);
  await page.getByRole("button", { name: "Show more" }).click();
  await row(page, "f1000").waitFor();
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Delete for good" }).click();
  const question = dialog(page, "Delete 1,100 files?");
  await question.getByRole("button", { name: "Delete for good" }).click();
  await page.getByText("The trash is empty").waitFor();
});

test("A deleted folder is one row, of all drives, and is restored as one", async (fixture) => {
  const { page, project } = fixture;
  await project.call("PATCH", "", { body: { trash_days: 30 } });
  const [docs, photos] = [project.drive("docs"), project.drive("photos")];
  const names = Array.from({ length: 1100 }, (_, at) => `trip/${1000 + at}.txt`);
  await docs.fill(["kept/a.txt", "kept/b.txt", "kept/c.txt", ...names]);
  await photos.put("cat.png", "meow");
  await docs.delete(["kept/a.txt", "kept/b.txt"]);
  for (let at = 0; at < names.length; at += 1000) await docs.delete(names.slice(at, at + 1000));
  await photos.delete(["cat.png"]);
  await signInAsOwner(fixture);
  await openSection(page, "Trash");
  await row(page, "trip").getByText("docs").waitFor();
  await row(page, "cat.png").getByText("photos").waitFor();
  await row(page, "cat.png").locator(".kind-image").waitFor();
  assertEquals(await page.getByRole("rowheader").count(), 2);
  // Names have room beside the navigation of a tablet.
  await page.setViewportSize({ width: 768, height: 1024 });
  const name = await page.getByText("cat.png", { exact: true }).boundingBox();
  assertLess(name!.height, 30, "The name is broken");
  await page.setViewportSize(DESKTOP);
  await page.getByLabel("Search in the trash").fill("TRI");
  await row(page, "cat.png").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Restore trip" }).click();
  await page.getByText("Restored 1,100 files").waitFor();
  assertEquals((await docs.names({ prefix: "trip/", limit: 1000 })).length, 1000);
  await page.getByLabel("Search in the trash").fill("");
  for (const name of ["a.txt", "b.txt"]) await row(page, name).getByText("kept").waitFor();
  await page.getByLabel("Drive").selectOption("photos");
  await row(page, "a.txt").waitFor({ state: "detached" });
  await row(page, "cat.png").waitFor();
});

test("A restored file does not replace another one before the user is asked", async (fixture) => {
  const { page } = fixture;
  const docs = await openTrash(fixture, ["a.txt", "b.txt", "c.txt"]);
  for (const name of ["a.txt", "b.txt", "c.txt"]) await docs.put(name, "new");
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Restore", exact: true }).first().click();
  const all = dialog(page, "3 files exist already");
  await all.getByLabel("Do this for all 3 files").uncheck();
  await dialog(page, /exists already/).getByRole("button", { name: "Keep both" }).click();
  await dialog(page, /exists already/).getByRole("button", { name: "Replace" }).click();
  await dialog(page, /exists already/).getByRole("button", { name: "Skip" }).click();
  await page.getByText("Restored 2 files").waitFor();
  const names = await docs.names();
  assertEquals(names.length, 4);
  const texts = await Promise.all(names.map((name) => docs.text(name)));
  // One was replaced, one has its old bytes under another name.
  assertEquals(texts.filter((text) => text === "new").length, 2);
  assertEquals(names.filter((name) => name.includes(" (2).txt")).length, 1);
});

test("Two items that are restored at the same time leave the list, others stay selected", async (fixture) => {
  const { page } = fixture;
  await openTrash(fixture, ["a.txt", "b.txt", "c.txt"]);
  await page.getByLabel("c.txt", { exact: true }).check();
  const both = Promise.withResolvers<void>();
  let calls = 0;
  await page.route("**/trash/restore", async (route) => {
    if (++calls === 2) both.resolve();
    await both.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Restore a.txt" }).click();
  await page.getByRole("button", { name: "Restore b.txt" }).click();
  for (const name of ["a.txt", "b.txt"]) await row(page, name).waitFor({ state: "detached" });
  assertEquals(await page.getByLabel("c.txt", { exact: true }).isChecked(), true);
});
