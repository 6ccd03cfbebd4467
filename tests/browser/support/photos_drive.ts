import type { Page } from "playwright-core";
import { patternBytes } from "../../support/bytes.ts";
import { openSection, signInAsOwner } from "./navigation.ts";
import type { Fixture } from "./fixture.ts";
import { entry, waitUntil } from "./uploads.ts";

/** The names in the list, in display order. */
export async function listedNames(page: Page): Promise<string[]> {
  const boxes = page.getByRole("grid").getByRole("row").getByRole("checkbox", {
    name: /^Select (?!all)/,
  });
  const labels = await boxes.evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
  return labels.map((label) => label?.replace("Select ", "") ?? "");
}

/** Waits until the list has exactly these names, in this order. */
export async function waitForNames(page: Page, names: string[]): Promise<void> {
  await waitUntil(
    async () => (await listedNames(page)).join("\n") === names.join("\n"),
    `the list ${names}`,
  );
}

/** Stores files of several sizes and types in nested folders. */
async function fillDrive({ project }: Fixture): Promise<void> {
  const drive = project.drive("photos");
  await drive.put("pets/cat.jpg", patternBytes(3000), { "Content-Type": "image/jpeg" });
  await drive.put("pets/2021/dog.png", patternBytes(500));
  await drive.put("budget.csv", "a,b\n1,2\n");
  await drive.put("album.zip", patternBytes(70_000));
  await drive.put("notes.txt", "written last");
}

/** Signs in and opens the drive with those files. */
export async function openPhotos(fixture: Fixture): Promise<void> {
  await fillDrive(fixture);
  await signInAsOwner(fixture);
  await openSection(fixture.page, "Files");
  await fixture.page.getByRole("link", { name: "photos" }).click();
  await entry(fixture.page, "notes.txt").waitFor();
}
