import { assertEquals } from "@std/assert";
import type { Drive } from "../support/drive.ts";
import type { Fixture } from "./support/fixture.ts";
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
