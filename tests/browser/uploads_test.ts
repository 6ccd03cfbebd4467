import { assertEquals, assertMatch } from "@std/assert";
import { patternBytes } from "../support/bytes.ts";
import { Upload } from "../support/drive.ts";
import { dialog, openSection, row, signInAsOwner } from "./support/desk.ts";
import { stories } from "./support/stories.ts";
import {
  choose,
  notePartsOf,
  openFolder,
  openUploads,
  transfer,
  until,
} from "./support/uploads.ts";

const SIZE = 25_000_000;

const story = stories("Uploads in progress");

story("They are listed with their age and what has arrived, and are aborted.", async (scene) => {
  const { page, project } = scene;
  const drive = project.drive("films");
  const upload = await Upload.start(drive, "holidays/film.bin");
  (await upload.send(1, patternBytes(5_000_000))).expect(200);
  (await upload.send(2, patternBytes(6_000_000))).expect(200);
  await signInAsOwner(scene);
  await openSection(page, "Uploads");
  const listed = row(page, "holidays/film.bin");
  assertMatch(await listed.innerText(), /films\s+just now\s+2 parts, 11\.0 MB\s+in \d+ hours/);
  await listed.getByText("Started elsewhere").waitFor();
  await listed.getByRole("button", { name: "Abort the upload of holidays/film.bin" }).click();
  const question = dialog(page, "Abort the upload of “holidays/film.bin”?");
  await question.getByText("2 parts with 11.0 MB").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  assertEquals((await openUploads(drive)).length, 1);
  await listed.getByRole("button", { name: /^Abort/ }).click();
  await question.getByRole("button", { name: "Abort the upload" }).click();
  await page.getByText("No upload is in progress").waitFor();
  assertEquals(await openUploads(drive), []);
});

story(
  "One that a closed tab left goes on from here, with the same file and no other.",
  async (scene) => {
    const { page, context, project, watch } = scene;
    const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
    await Deno.writeFile(`${folder}/film.bin`, patternBytes(SIZE));
    await Deno.writeFile(`${folder}/other.bin`, patternBytes(SIZE - 1));
    await signInAsOwner(scene);
    await openFolder(scene, "films");
    watch.expect(/ERR_FAILED/);
    // The view may ask for the upload in the moment in which it is completed.
    watch.expect(/status of 40[49]/);
    await page.route("**/parts?*part=1*", (route) => route.abort());
    await choose(page, "Upload files", `${folder}/film.bin`);
    const drive = project.drive("films");
    await until(async () => (await openUploads(drive)).length === 1, "an upload");
    await until(async () => {
      const [upload] = await openUploads(drive);
      const answer = await drive.send("GET", `/uploads/${upload?.upload_id}?name=film.bin`);
      return (answer.json as { parts: unknown[] }).parts.length === 2;
    }, "two parts");
    await page.close();
    const later = scene.at(await context.newPage());
    const parts = notePartsOf(later.page);
    await signInAsOwner(later);
    await openSection(later.page, "Uploads");
    const button = "Choose the file again to resume with film.bin";
    await choose(later.page, button, `${folder}/other.bin`);
    await later.page.getByRole("alert").filter({ hasText: "24,999,999 bytes" }).waitFor();
    await choose(later.page, button, `${folder}/film.bin`);
    await transfer(later.page, "film.bin").getByText("uploaded").waitFor();
    assertEquals(parts, [1]);
    await later.page.getByText("No upload is in progress").waitFor();
    assertEquals((await drive.details()).map(({ size }) => size), [SIZE]);
    await Deno.remove(folder, { recursive: true });
  },
);
