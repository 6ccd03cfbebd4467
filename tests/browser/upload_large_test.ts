import { assertEquals, assertGreater } from "@std/assert";
import type { Page } from "playwright-core";
import { Folder } from "../support/command.ts";
import { suite } from "./support/suite.ts";
import { entry, openUploads, uploadRow, waitUntil } from "./support/uploads.ts";
import {
  assertUploaded,
  chooseFilm,
  FILM,
  holdPart,
  openFilmsDrive,
  throttleUpload,
} from "./support/large_upload.ts";

const test = suite("Uploads of large files in parts");

/** Records every value of the progress bar of the film until it is half full. Call it before the upload starts. */
async function recordProgress(page: Page): Promise<number[]> {
  return await page.evaluate((label) =>
    new Promise<number[]>((resolve) => {
      const values: number[] = [];
      const observer = new MutationObserver(() => {
        const bar = document.querySelector<HTMLProgressElement>(`progress[aria-label="${label}"]`);
        if (bar === null || bar.value === values.at(-1)) return;
        values.push(bar.value);
        if (bar.value < bar.max / 2) return;
        observer.disconnect();
        resolve(values);
      });
      observer.observe(document.body, {
        subtree: true,
        childList: true,
        attributeFilter: ["value"],
      });
    }), `Progress of ${FILM}`);
}

const PROGRESS_TEXT = /^\d+(\.\d)? [kM]B of 25\.0 MB · \d+(\.\d)? [kM]B\/s · (\d+ min )?\d+ s left/;

test("An upload shows its progress, speed and remaining time", async (fixture) => {
  const { page } = fixture;
  await openFilmsDrive(fixture);
  await throttleUpload(fixture, 5_000_000);
  await using folder = await Folder.make();
  const row = uploadRow(page, FILM);
  const [values] = await Promise.all([
    recordProgress(page),
    row.getByText(PROGRESS_TEXT).waitFor(),
    chooseFilm(page, folder),
  ]);
  assertEquals(values, values.toSorted((a, b) => a - b), "The bar goes back");
  assertGreater(values.length, 6, `The bar jumps: ${values}`);
  await page.getByRole("link", { name: /Uploads.*1/ }).waitFor();
  // The upload continues while another view is open.
  await page.getByRole("link", { name: "Connect" }).click();
  await page.getByRole("heading", { level: 1, name: "Connect" }).waitFor();
  await page.goBack();
  await row.getByText("uploaded").waitFor();
  await entry(page, FILM).waitFor();
  await assertUploaded(fixture);
});

test("An upload can be canceled, and nothing of it remains", async (fixture) => {
  const { page, project } = fixture;
  await openFilmsDrive(fixture);
  const drive = project.drive("films");
  await holdPart(page, 3);
  await using folder = await Folder.make();
  await chooseFilm(page, folder);
  await uploadRow(page, FILM).getByText(/B\/s/).waitFor();
  assertEquals((await openUploads(drive)).length, 1);
  await page.getByRole("button", { name: `Cancel the upload of ${FILM}` }).click();
  await uploadRow(page, FILM).getByText("Canceled").waitFor();
  await waitUntil(async () => (await openUploads(drive)).length === 0, "the end of the upload");
  assertEquals(await drive.names(), ["notes.txt"]);
  await page.getByRole("button", { name: "Clear the list" }).click();
  await uploadRow(page, FILM).waitFor({ state: "detached" });
});
