import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { Folder } from "../support/command.ts";
import { assertSameBytes, patternBytes } from "../support/bytes.ts";
import { signInAsOwner } from "./support/desk.ts";
import type { Scene } from "./support/scene.ts";
import { SlowLine } from "./support/slow_line.ts";
import { stories } from "./support/stories.ts";
import {
  choose,
  entry,
  notePartsOf,
  openFolder,
  openUploads,
  transfer,
  until,
} from "./support/uploads.ts";

const SIZE = 25_000_000;
const FILM = "film.bin";

const story = stories("A large file goes up in parts");

const bytes = patternBytes(SIZE);

/** Chooses the film, which lies on a disk, as films do. */
async function chooseFilm(page: Page, folder: Folder): Promise<void> {
  await choose(page, "Upload files", await folder.write(FILM, bytes));
}

/** Signs in over a line, and opens a drive that has one file. */
async function begin(scene: Scene, origin?: string): Promise<void> {
  await scene.project.drive("films").put("notes.txt", "of the films");
  await signInAsOwner(scene, origin);
  await openFolder(scene, "films");
  await entry(scene.page, "notes.txt").waitFor();
}

async function assertArrived({ project }: Scene): Promise<void> {
  const drive = project.drive("films");
  assertSameBytes((await drive.get(FILM)).expect(200).bytes, bytes);
  assertEquals(await openUploads(drive), []);
}

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

/** Lets the browser send so many bytes a second: a slow line in between would have buffers that hide how slow it is. */
async function slowDown({ page, context }: Scene, uploadThroughput: number): Promise<void> {
  const devTools = await context.newCDPSession(page);
  await devTools.send("Network.enable");
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
  await devTools.send("Network.emulateNetworkConditions", conditions);
}

const SOME_WAY = /^\d+(\.\d)? [kM]B of 25\.0 MB · \d+(\.\d)? [kM]B\/s · (\d+ min )?\d+ s left/;

story(
  "Over a slow line a person sees how far it is, how fast, and how long it takes.",
  async (scene) => {
    const { page } = scene;
    await begin(scene);
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
  await begin(scene, line.origin);
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

story("Signing out stops it at once; what has arrived waits for who comes back.", async (scene) => {
  const { page, project } = scene;
  await begin(scene);
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
  await begin(scene);
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
    await begin(scene, line.origin);
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
    await begin(scene);
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
    await begin(scene);
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
