import type { Page } from "playwright-core";
import { patternBytes } from "../../support/bytes.ts";
import { openSection, signInAsOwner } from "./desk.ts";
import type { Scene } from "./scene.ts";
import { entry } from "./uploads.ts";

/** The names in the list, as they stand below each other. */
export async function listed(page: Page): Promise<string[]> {
  const boxes = page.getByRole("grid").getByRole("row").getByRole("checkbox", {
    name: /^Select (?!all)/,
  });
  const labels = await boxes.evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
  return labels.map((label) => label?.replace("Select ", "") ?? "");
}

/** Some files in two folders, of which the lists know size, type and time. */
async function fillDrive({ project }: Scene): Promise<void> {
  const drive = project.drive("photos");
  await drive.put("pets/cat.jpg", patternBytes(3000), { "Content-Type": "image/jpeg" });
  await drive.put("pets/2021/dog.png", patternBytes(500));
  await drive.put("budget.csv", "a,b\n1,2\n");
  await drive.put("album.zip", patternBytes(70_000));
  await drive.put("notes.txt", "written last");
}

/** Signs in, and opens the drive with those files. */
export async function openPhotos(scene: Scene): Promise<void> {
  await fillDrive(scene);
  await signInAsOwner(scene);
  await openSection(scene.page, "Files");
  await scene.page.getByRole("link", { name: "photos" }).click();
  await entry(scene.page, "notes.txt").waitFor();
}
