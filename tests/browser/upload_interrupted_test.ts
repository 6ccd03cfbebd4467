import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../support/command.ts";
import { signInAsOwner } from "./support/desk.ts";
import type { Scene } from "./support/scene.ts";
import { SlowLine } from "./support/slow_line.ts";
import { stories } from "./support/stories.ts";
import {
  choose,
  notePartsOf,
  openFolder,
  openUploads,
  transfer,
  until,
} from "./support/uploads.ts";
import { assertArrived, bytes, chooseFilm, FILM, openFilms, slowDown } from "./support/film.ts";

const story = stories("A large file that was interrupted goes on");

story("Signing out stops it at once; what has arrived waits for who comes back.", async (scene) => {
  const { page, project } = scene;
  await openFilms(scene);
  await slowDown(scene, 4_000_000);
  await using folder = await Folder.make();
  // The same file: one that is written again is another.
  const path = await folder.write(FILM, bytes);
  await choose(page, "Upload files", path);
  await transfer(page, FILM).getByText(/B\/s/).waitFor();
  const sent: string[] = [];
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to kvdrive" }).waitFor();
  page.on("request", (request) => sent.push(request.url()));
  assertEquals((await openUploads(project.drive("films"))).length, 1);
  await slowDown(scene, -1);
  await signInAsOwner(scene);
  await openFolder(scene, "films");
  assertEquals(sent.filter((url) => url.includes("/parts")), []);
  await choose(page, "Upload files", path);
  await transfer(page, FILM).getByText("uploaded").waitFor();
  await assertArrived(scene);
});

story("A part that failed once is sent again by itself, and no other one.", async (scene) => {
  const { page, watch } = scene;
  watch.expect(/status of 503/);
  await openFilms(scene);
  const parts = notePartsOf(page);
  await page.route("**/parts?*part=2*", (route) => {
    return route.fulfill({ status: 503, json: { errors: ["The server is busy"] } });
  }, { times: 1 });
  await using folder = await Folder.make();
  await chooseFilm(page, folder);
  await transfer(page, FILM).getByText(/^Trying part 2 again in 1 s: The server is busy/).waitFor();
  await transfer(page, FILM).getByText("uploaded").waitFor();
  assertEquals(parts.toSorted(), [1, 2, 2, 3]);
  await assertArrived(scene);
});

story(
  "A line that breaks in the middle costs no file.",
  async (scene) => {
    const { page, server, watch } = scene;
    watch.expect(/ERR_(CONNECTION|EMPTY|SOCKET|NETWORK)/);
    await using line = new SlowLine(server, 8_000_000);
    await openFilms(scene, line.origin);
    await using folder = await Folder.make();
    await chooseFilm(page, folder);
    await transfer(page, FILM).getByText(/B\/s/).waitFor();
    line.cut();
    line.rate = 1e9;
    await transfer(page, FILM).getByText("uploaded").waitFor();
    await assertArrived(scene);
  },
);

story(
  "A part that keeps failing ends in a sentence and a button, which sends that part alone.",
  async (scene) => {
    const { page, watch } = scene;
    watch.expect(/ERR_CONNECTION_RESET/);
    await openFilms(scene);
    await page.route("**/parts?*part=3*", (route) => route.abort("connectionreset"));
    await using folder = await Folder.make();
    await chooseFilm(page, folder);
    const row = transfer(page, FILM);
    const retry = row.getByRole("button", { name: `Retry the upload of ${FILM}` });
    await retry.waitFor({ timeout: 20_000 });
    assertMatch(await row.innerText(), /Failed with 2\d(\.\d)? MB of 25\.0 MB/);
    assertMatch(await row.innerText(), /The server cannot be reached/);
    await page.unroute("**/parts?*part=3*");
    const parts = notePartsOf(page);
    await retry.click();
    await row.getByText("uploaded").waitFor();
    assertEquals(parts, [3]);
    await assertArrived(scene);
  },
);

story(
  "After the tab was closed, the same file chosen again goes on where it was.",
  async (scene) => {
    const { page, context, project } = scene;
    const path = `${await Deno.makeTempDir({ prefix: "kvdrive-test-" })}/${FILM}`;
    await Deno.writeFile(path, bytes);
    await openFilms(scene);
    // The third part never leaves, so the tab is closed in the middle.
    await page.route("**/parts?*part=3*", () => {});
    await choose(page, "Upload files", path);
    const drive = project.drive("films");
    await until(async () => await partsOf(scene) === "1 2", "two parts");
    await page.close();
    const later = await context.newPage();
    const parts = notePartsOf(later);
    const again = Object.create(scene, { page: { value: later } }) as Scene;
    await signInAsOwner(again);
    await openFolder(again, "films");
    assertEquals((await openUploads(drive)).length, 1);
    await choose(later, "Upload files", path);
    await transfer(later, FILM).getByText("uploaded").waitFor();
    assertEquals(parts, [3]);
    await assertArrived(scene);
  },
);

/** The numbers of the parts that the server has of the only upload. */
async function partsOf({ project }: Scene): Promise<string> {
  const drive = project.drive("films");
  const [upload] = await openUploads(drive);
  if (upload === undefined) return "";
  const answer = await drive.send("GET", `/uploads/${upload.upload_id}?name=${FILM}`);
  const { parts } = answer.expect(200).json as { parts: { part: number }[] };
  assert(parts.length <= 2, "The third part arrived");
  return parts.map(({ part }) => part).join(" ");
}
