import { patternBytes } from "../support/bytes.ts";
import type { Fixture } from "./support/fixture.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { png } from "./support/samples.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Browsing files");

const LONG = `${"a very long name without end ".repeat(4)}of-one-word-${"x".repeat(80)}.txt`;

/** Puts files of many kinds into a drive. */
async function fill({ project, page }: Fixture): Promise<void> {
  const photos = project.drive("photos");
  const image = await png(page);
  for (let index = 1; index <= 12; index++) await photos.put(`img${index}.png`, image);
  await photos.put("Trip 2026/day 1/harbour.png", image);
  await photos.put("Trip 2026/notes.md", "# Notes\n");
  await photos.put("archive/a.zip", patternBytes(1000));
  await photos.put("beep.wav", patternBytes(40_000));
  await photos.put("clip.mp4", patternBytes(80_000));
  await photos.put("paper.pdf", patternBytes(20_000));
  await photos.put("data.json", "{}");
  await photos.put("backup.tar.gz", patternBytes(2_000_000));
  await photos.put(LONG, "long");
  await project.drive("backups of the year").put("monday.tar", patternBytes(3_000_000));
}

test("List, grid and drives on every screen", async (fixture) => {
  const { page } = fixture;
  await fill(fixture);
  await signInAsOwner(fixture);
  await page.getByRole("link", { name: /photos/ }).waitFor();
  await inspect(page, "drives");
  await openFolder(fixture, "photos");
  await entry(page, "img1.png").waitFor();
  await page.waitForTimeout(1500);
  await inspect(page, "folder-list");
  await page.getByRole("button", { name: "Show as grid" }).click();
  await page.waitForTimeout(500);
  await inspect(page, "folder-grid");
});
