import { patternBytes } from "../../support/bytes.ts";
import { signInAsOwner } from "./desk.ts";
import { pdf, png, wav } from "./samples.ts";
import type { Scene } from "./scene.ts";
import { entry, openFolder } from "./uploads.ts";

/** A name that fits nowhere. */
export const LONG = `${"a very long name without end ".repeat(4)}of-one-word-${"x".repeat(80)}.txt`;

/** A project as people have it, some names of it unusual. */
export async function fillProject({ project, page }: Scene): Promise<void> {
  const photos = project.drive("photos");
  await photos.put("pets/cat.jpg", patternBytes(400_000), { "Content-Type": "image/jpeg" });
  await photos.put("view.png", await png(page));
  await photos.put(
    "notes.md",
    "# Notes\n\nTo be read on a narrow screen, where the lines do not fit.\n",
  );
  await photos.put("beep.wav", wav());
  await photos.put("paper.pdf", pdf("The paper"));
  await photos.put("archive.zip", patternBytes(2_000_000));
  await photos.put(LONG, "long");
  await project.drive("backups of the year").put("monday.tar", patternBytes(3_000_000));
  await project.call("POST", "/keys", { body: { name: "backup of the office" } });
}

/** Signs in, and opens the drive with most of it. */
export async function openSample(scene: Scene): Promise<void> {
  await fillProject(scene);
  await signInAsOwner(scene);
  await openFolder(scene, "photos");
  await entry(scene.page, "view.png").waitFor();
}
