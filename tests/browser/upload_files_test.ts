import { assertEquals } from "@std/assert";
import { utf8 } from "../support/bytes.ts";
import { dialog, openSection, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { choose, drop, entry, file, openFolder, uploadRow } from "./support/uploads.ts";

import { openPhotos } from "./support/photos_drive.ts";

const test = suite("Uploads of files and folders");

test(
  "An empty project shows the next step, and the first file creates the drive",
  async (fixture) => {
    const { page, project } = fixture;
    await signInAsOwner(fixture);
    await openSection(page, "Files");
    await page.getByText("This project has no files yet").waitFor();
    await choose(page, "Upload files", [file("cat.jpg", utf8("a cat"))]);
    await page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
    assertEquals((await project.files("GET", "")).expect(200).json, {
      project_id: project.id,
      drives: [],
    });
    await page.getByLabel("Name of the drive").fill("holidays 2021");
    await choose(page, "Upload files", [file("cat.jpg", utf8("a cat")), file("empty", utf8(""))]);
    await page.getByRole("heading", { level: 1, name: "holidays 2021" }).waitFor();
    await entry(page, "cat.jpg").waitFor();
    await entry(page, "empty").waitFor();
    assertEquals(await project.drive("holidays 2021").text("cat.jpg"), "a cat");
    await page.getByRole("link", { name: "Drives", exact: true }).click();
    await page.getByRole("row", { name: /holidays 2021.*2.*5 B/ }).waitFor();
  },
);

test("Files and folders are dropped onto the page", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  await Deno.mkdir(`${folder}/trip/day 1`, { recursive: true });
  for (let i = 0; i < 120; i++) await Deno.writeTextFile(`${folder}/trip/day 1/${i}.txt`, `${i}`);
  await Deno.writeTextFile(`${folder}/trip/plan.md`, "# Plan");
  await Deno.writeTextFile(`${folder}/ticket.pdf`, "a ticket");
  await drop(fixture, [`${folder}/trip`, `${folder}/ticket.pdf`]);
  await page.getByRole("region", { name: "Transfers of this tab" }).getByText("122 files uploaded")
    .waitFor();
  await entry(page, "ticket.pdf").waitFor();
  await entry(page, "trip").waitFor();
  const drive = project.drive("photos");
  assertEquals((await drive.names({ prefix: "trip/" })).length, 121);
  assertEquals(await drive.text("trip/day 1/119.txt"), "119");
  await Deno.remove(folder, { recursive: true });
});

test("A folder that is chosen with a button is uploaded into the open folder", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  await Deno.mkdir(`${folder}/trip/inner`, { recursive: true });
  await Deno.writeTextFile(`${folder}/trip/inner/a.txt`, "a");
  await openFolder(fixture, "photos", "pets");
  await choose(page, "Upload a folder", `${folder}/trip`);
  await entry(page, "trip").waitFor();
  assertEquals(await project.drive("photos").text("pets/trip/inner/a.txt"), "a");
  await Deno.remove(folder, { recursive: true });
});

test("A file is overwritten only after confirmation", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  const chosen = [file("notes.txt", utf8("new")), file("other.txt", utf8("other"))];
  await choose(page, "Upload files", chosen);
  const question = dialog(page, "Overwrite 1 file?");
  await question.getByText("notes.txt").waitFor();
  await question.getByRole("button", { name: "Upload the other 1 file only" }).click();
  await entry(page, "other.txt").waitFor();
  const drive = project.drive("photos");
  assertEquals(await drive.text("notes.txt"), "written last");
  await choose(page, "Upload files", chosen.slice(0, 1));
  await question.getByRole("button", { name: "Cancel" }).click();
  await choose(page, "Upload files", chosen.slice(0, 1));
  await question.getByRole("button", { name: "Overwrite 1 file" }).click();
  await uploadRow(page, "notes.txt").getByText("uploaded").waitFor();
  assertEquals(await drive.text("notes.txt"), "new");
});
