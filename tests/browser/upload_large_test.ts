import { assertEquals, assertGreater } from "@std/assert";
import type { Page } from "playwright-core";
import { Folder } from "../support/command.ts";
import { SlowLine } from "./support/slow_line.ts";
import { stories } from "./support/stories.ts";
import { entry, openUploads, transfer, until } from "./support/uploads.ts";
import { assertArrived, chooseFilm, FILM, openFilms, slowDown } from "./support/film.ts";

const story = stories("A large file goes up in parts");

/** How far the bar comes, value by value, until it is through a half. */
async function followBar(page: Page): Promise<number[]> {
  return await transfer(page, FILM).getByRole("progressbar").evaluate(async (element) => {
    const progress = element as HTMLProgressElement;
    const seen = [progress.value];
    while (progress.value < progress.max / 2) {
      await new Promise(requestAnimationFrame);
      if (progress.value !== seen.at(-1)) seen.push(progress.value);
    }
    return seen;
  });
}

const SOME_WAY = /^\d+(\.\d)? [kM]B of 25\.0 MB · \d+(\.\d)? [kM]B\/s · (\d+ min )?\d+ s left/;

story(
  "Over a slow line a person sees how far it is, how fast, and how long it takes.",
  async (scene) => {
    const { page } = scene;
    await openFilms(scene);
    await slowDown(scene, 5_000_000);
    await using folder = await Folder.make();
    await chooseFilm(page, folder);
    const row = transfer(page, FILM);
    const [seen] = await Promise.all([followBar(page), row.getByText(SOME_WAY).waitFor()]);
    assertEquals(seen, seen.toSorted((a, b) => a - b), "It goes back");
    assertGreater(seen.length, 6, `It jumps: ${seen}`);
    await page.getByRole("link", { name: /Uploads.*1/ }).waitFor();
    // It goes on whatever is looked at meanwhile.
    await page.getByRole("link", { name: "Connect" }).click();
    await page.getByRole("heading", { level: 1, name: "Connect" }).waitFor();
    await page.goBack();
    await row.getByText("uploaded").waitFor();
    await entry(page, FILM).waitFor();
    await assertArrived(scene);
  },
);

story("It can be canceled, and nothing is left of it.", async (scene) => {
  const { page, server, project } = scene;
  await using line = new SlowLine(server, 3_000_000);
  await openFilms(scene, line.origin);
  const drive = project.drive("films");
  await using folder = await Folder.make();
  await chooseFilm(page, folder);
  await until(async () => (await openUploads(drive)).length === 1, "an upload");
  await transfer(page, FILM).getByText(/B\/s/).waitFor();
  await page.getByRole("button", { name: `Cancel the upload of ${FILM}` }).click();
  await transfer(page, FILM).getByText("Canceled").waitFor();
  await until(async () => (await openUploads(drive)).length === 0, "the end of the upload");
  assertEquals(await drive.names(), ["notes.txt"]);
  await page.getByRole("button", { name: "Clear the list" }).click();
  await transfer(page, FILM).waitFor({ state: "detached" });
});
