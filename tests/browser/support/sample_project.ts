import { patternBytes } from "../../support/bytes.ts";
import { signInAsOwner } from "./navigation.ts";
import { pdf, png, wav } from "./samples.ts";
import type { Fixture } from "./fixture.ts";
import { entry, openFolder } from "./uploads.ts";

/** A name that is wider than every screen. */
export const LONG = `${"a very long name without end ".repeat(4)}of-one-word-${"x".repeat(80)}.txt`;

/** Fills the project with files of all kinds, some with unusual names. */
export async function fillProject({ project, page }: Fixture): Promise<void> {
  const photos = project.drive("photos");
  await photos.put("pets/cat.jpg", patternBytes(400_000), { "Content-Type": "image/jpeg" });
  await photos.put("view.png", await png(page));
  await photos.put(
    "notes.md",
    "# Notes\n\nFor a narrow screen, on which this line does not fit.\n",
  );
  await photos.put("beep.wav", wav());
  await photos.put("paper.pdf", pdf("The paper"));
  await photos.put("archive.zip", patternBytes(2_000_000));
  await photos.put(LONG, "long");
  await project.drive("backups of the year").put("monday.tar", patternBytes(3_000_000));
  await project.call("POST", "/keys", { body: { name: "backup of the office" } });
}

/** Signs in and opens the drive with most of the files. */
export async function openSample(fixture: Fixture): Promise<void> {
  await fillProject(fixture);
  await signInAsOwner(fixture);
  await openFolder(fixture, "photos");
  await entry(fixture.page, "view.png").waitFor();
}
