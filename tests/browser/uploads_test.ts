import { assertEquals, assertMatch } from "@std/assert";
import { patternBytes } from "../support/bytes.ts";
import { Upload } from "../support/drive.ts";
import { dialog, openSection, row, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import {
  choose,
  openFolder,
  openUploads,
  recordParts,
  uploadRow,
  waitUntil,
} from "./support/uploads.ts";

const SIZE = 25_000_000;

const test = suite("Uploads in progress");

test("Open uploads are listed with their age and received bytes, and can be aborted", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive("films");
  const upload = await Upload.start(drive, "holidays/film.bin");
  (await upload.send(1, patternBytes(5_000_000))).expect(200);
  (await upload.send(2, patternBytes(6_000_000))).expect(200);
  await signInAsOwner(fixture);
  await openSection(page, "Uploads");
  const listedRow = row(page, "holidays/film.bin");
  assertMatch(
    await listedRow.innerText(),
    /films\s+just now\s+2 parts, 11\.0 MB\s+(in 23 hours|tomorrow)/,
  );
  await listedRow.getByText("Started elsewhere").waitFor();
  await listedRow.getByRole("button", { name: "Abort the upload of holidays/film.bin" }).click();
  const question = dialog(page, "Abort the upload of “holidays/film.bin”?");
  await question.getByText("2 parts with 11.0 MB").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  assertEquals((await openUploads(drive)).length, 1);
  await listedRow.getByRole("button", { name: /^Abort/ }).click();
  await question.getByRole("button", { name: "Abort the upload" }).click();
  await page.getByText("No upload is in progress").waitFor();
  assertEquals(await openUploads(drive), []);
});

test(
  "An upload of a closed tab resumes with the same file, and with no other",
  async (fixture) => {
    const { page, context, project, observer } = fixture;
    const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
    await Deno.writeFile(`${folder}/film.bin`, patternBytes(SIZE));
    await Deno.writeFile(`${folder}/other.bin`, patternBytes(SIZE - 1));
    await signInAsOwner(fixture);
    await openFolder(fixture, "films");
    observer.allow(/ERR_FAILED/);
    // The view may request the upload while it is being completed.
    observer.allow(/status of 40[49]/);
    await page.route("**/parts?*part=1*", (route) => route.abort());
    await choose(page, "Upload files", `${folder}/film.bin`);
    const drive = project.drive("films");
    await waitUntil(async () => (await openUploads(drive)).length === 1, "an upload");
    await waitUntil(async () => {
      const [upload] = await openUploads(drive);
      const answer = await drive.send("GET", `/uploads/${upload?.upload_id}?name=film.bin`);
      return (answer.json as { parts: unknown[] }).parts.length === 2;
    }, "two parts");
    await page.close();
    const later = fixture.withPage(await context.newPage());
    const parts = recordParts(later.page);
    await signInAsOwner(later);
    await openSection(later.page, "Uploads");
    const button = "Choose the file again to resume with film.bin";
    await choose(later.page, button, `${folder}/other.bin`);
    await later.page.getByRole("alert").filter({ hasText: "24,999,999 bytes" }).waitFor();
    await choose(later.page, button, `${folder}/film.bin`);
    await uploadRow(later.page, "film.bin").getByText("uploaded").waitFor();
    assertEquals(parts, [1]);
    await later.page.getByText("No upload is in progress").waitFor();
    assertEquals((await drive.details()).map(({ size }) => size), [SIZE]);
    await Deno.remove(folder, { recursive: true });
  },
);
