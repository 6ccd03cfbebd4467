import { assert, assertEquals, assertLess } from "@std/assert";
import { patternBytes, utf8 } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import type { Fixture } from "./support/fixture.ts";
import { dialog, openSection } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import {
  card,
  chooseToUpload,
  drag,
  drop,
  FILM,
  FILM_BYTES,
  holdPart,
  openPhotos,
  uploadRow,
} from "./support/transfers.ts";
import { entry, file, openFolder, openUploads, waitUntil } from "./support/uploads.ts";

const test = suite("Uploads");

test("Chosen files are sent with their type and time, and appear in the folder", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  await using folder = await Folder.make();
  const path = await folder.write("cat.jpg", utf8("a cat"));
  await Deno.utime(path, 1_600_000_000, 1_600_000_000.5);
  await chooseToUpload(page, "Files", [path]);
  await card(page).getByText("1 upload done").waitFor();
  await entry(page, "cat.jpg").waitFor();
  const [cat] = await project.drive("photos").details();
  assertEquals([cat?.name, cat?.size, cat?.content_type, cat?.mtime], [
    "cat.jpg",
    5,
    "image/jpeg",
    "2020-09-13T12:26:40.500Z",
  ]);
  await card(page).getByRole("button", { name: "Close the list" }).click();
  await card(page).waitFor({ state: "detached" });
});

test("Files and folders are dropped anywhere; a folder without files appears too", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  await using folder = await Folder.make();
  await Deno.mkdir(folder.at("trip/day 1"), { recursive: true });
  await Deno.mkdir(folder.at("trip/empty"));
  for (let i = 0; i < 120; i++) await folder.write(`trip/day 1/${i}.txt`, `${i}`);
  await folder.write("ticket.pdf", "a ticket");
  await drop(fixture, [folder.at("trip"), folder.at("ticket.pdf")]);
  await card(page).getByText("121 uploads done").waitFor();
  await entry(page, "ticket.pdf").waitFor();
  await entry(page, "trip").waitFor();
  const drive = project.drive("photos");
  assertEquals((await drive.names({ prefix: "trip/" })).length, 120);
  assertEquals(await drive.text("trip/day 1/119.txt"), "119");
  await openFolder(fixture, "photos", "trip");
  await entry(page, "empty").waitFor();
});

test("A folder of the list takes what is dropped onto it", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("photos").put("pets/cat.jpg", "a cat");
  await openPhotos(fixture);
  await using folder = await Folder.make();
  await Deno.mkdir(folder.at("dogs"));
  await folder.write("dogs/rex.txt", "rex");
  const box = await entry(page, "pets").boundingBox();
  assert(box !== null);
  const at = { x: box.x + 80, y: box.y + box.height / 2 };
  const paths = [folder.at("dogs")];
  await drag(fixture, paths, { ...at, types: ["dragEnter", "dragOver"] });
  const hint = page.getByText("Drop to upload to “photos”");
  await hint.waitFor();
  await drag(fixture, paths, { ...at, types: ["drop"] });
  await hint.waitFor({ state: "detached" });
  await card(page).getByText("1 upload done").waitFor();
  assertEquals(await project.drive("photos").text("pets/dogs/rex.txt"), "rex");
});

test("A chosen folder goes into the open folder", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  await using folder = await Folder.make();
  await Deno.mkdir(folder.at("trip/inner"), { recursive: true });
  await folder.write("trip/inner/a.txt", "a");
  await openFolder(fixture, "photos", "pets");
  await chooseToUpload(page, "Folder", folder.at("trip"));
  await entry(page, "trip").waitFor();
  assertEquals(await project.drive("photos").text("pets/trip/inner/a.txt"), "a");
});

test("A pasted image is uploaded under a name with the time", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(2, 2);
    canvas.getContext("2d");
    const image = await canvas.convertToBlob({ type: "image/png" });
    await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
  });
  await page.keyboard.press("Control+v");
  await card(page).getByText("1 upload done").waitFor();
  const names = await project.drive("photos").names();
  assert(names.some((name) => /^Pasted image \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$/.test(name)));
  // Text is no file.
  await page.evaluate(() => navigator.clipboard.writeText("text"));
  await page.keyboard.press("Control+v");
  assertEquals((await project.drive("photos").names()).length, names.length);
});

test("Files that exist are replaced, kept beside the new ones, or skipped, asked once", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive("photos");
  await openPhotos(fixture);
  await drive.put("a.txt", "old a");
  await drive.put("a (2).txt", "older a");
  const chosen = [
    file("a.txt", utf8("new a")),
    file("notes.txt", utf8("new")),
    file("b", utf8("b")),
  ];
  const question = dialog(page, "2 files exist already");
  await chooseToUpload(page, "Files", chosen);
  await question.getByRole("button", { name: "Skip" }).click();
  await card(page).getByText("1 upload done").waitFor();
  assertEquals([await drive.text("a.txt"), await drive.text("b")], ["old a", "b"]);
  await chooseToUpload(page, "Files", chosen.slice(0, 2));
  await question.getByRole("button", { name: "Keep both" }).click();
  await card(page).getByText("2 uploads done").waitFor();
  assertEquals(
    [await drive.text("a.txt"), await drive.text("a (3).txt"), await drive.text("notes (2).txt")],
    ["old a", "new a", "new"],
  );
  await chooseToUpload(page, "Files", chosen.slice(0, 2));
  await question.getByRole("button", { name: "Replace" }).click();
  await uploadRow(page, "a.txt").waitFor();
  await waitUntil(async () => await drive.text("a.txt") === "new a", "the new file");
  await waitUntil(async () => await drive.text("notes.txt") === "new", "the new file");
});

test("A file that appeared since the question is not replaced", async (fixture) => {
  const { page, project, observer } = fixture;
  observer.allow(/412/);
  await openPhotos(fixture);
  const drive = project.drive("photos");
  await page.route("**/files?name=race.txt*", async (route) => {
    await drive.put("race.txt", "theirs");
    await route.continue();
  }, { times: 1 });
  await chooseToUpload(page, "Files", [file("race.txt", utf8("mine"))]);
  const row = uploadRow(page, "race.txt");
  await row.getByText("Another file got this name meanwhile").waitFor();
  assertEquals(await drive.text("race.txt"), "theirs");
  await row.getByRole("button", { name: "Retry race.txt" }).click();
  await card(page).getByText("1 upload done").waitFor();
  assertEquals(await drive.text("race.txt"), "mine");
});

test("Files that do not fit are refused before they are sent", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  (await project.call("PATCH", "", { body: { max_bytes: 10_000 } })).expect(200);
  await chooseToUpload(page, "Files", [file("large.bin", patternBytes(20_000))]);
  await page.getByText(/Not enough space for 1 file of 20 kB: the project has 10 kB left of 10 kB/)
    .waitFor();
  assertEquals(await project.drive("photos").names(), ["notes.txt"]);
});

test("Where the session may not ask, the server's refusal is shown for all files", async (fixture) => {
  const { page, project, observer } = fixture;
  observer.allow(/507/);
  (await project.call("PATCH", "", { body: { max_bytes: 10_000 } })).expect(200);
  const { project_key } = await project.makeKey({ permissions: ["read", "write", "list"] });
  observer.registerSecret(project_key);
  await openPhotos(fixture, { key: project_key });
  const chosen = Array.from(
    { length: 20 },
    (_, index) => file(`${index}.bin`, patternBytes(11_000)),
  );
  await chooseToUpload(page, "Files", chosen);
  await card(page).getByText("20 uploads failed").waitFor();
  await uploadRow(page, "0.bin").getByText(/cannot take 11 kB more/).waitFor();
  await uploadRow(page, "19.bin").getByText("Not sent, for the same reason").waitFor();
  await inspect(page, "upload-card-failed");
});

test("A key that may not write has no upload controls", async (fixture) => {
  const { page, project, observer } = fixture;
  const { project_key } = await project.makeKey({ permissions: ["read", "list"] });
  observer.registerSecret(project_key);
  await openPhotos(fixture, { key: project_key });
  await using folder = await Folder.make();
  await drop(fixture, [await folder.write("a.txt", "a")]);
  assertEquals(await page.getByRole("button", { name: "Upload", exact: true }).count(), 0);
  assertEquals(await card(page).count(), 0);
  assertEquals(await project.drive("photos").names(), ["notes.txt"]);
});

test("500 small files are sent quickly, and the page stays responsive", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  await using folder = await Folder.make();
  await Deno.mkdir(folder.at("many"));
  for (let i = 0; i < 500; i++) await folder.write(`many/${i}.txt`, `${i}`);
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { longTasks: tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: "longtask" });
  });
  const start = performance.now();
  await drop(fixture, [folder.at("many")]);
  await card(page).getByText("500 uploads done").waitFor();
  const seconds = (performance.now() - start) / 1000;
  const rows = await page.getByRole("list", { name: "Uploads of this tab" }).getByRole("listitem")
    .count();
  // A folder is one row.
  assertEquals([rows, (await project.drive("photos").names({ prefix: "many/" })).length], [1, 500]);
  const longest = await page.evaluate(() =>
    Math.max(0, ...(globalThis as unknown as { longTasks: number[] }).longTasks)
  );
  // Generous: other programs may use the machine.
  assertLess(seconds, 60);
  assertLess(longest, 1000);
});

test("Uploads continue in other views, can be paused and canceled, and warn before the page closes", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  const part = await holdPart(page, 3);
  await using folder = await Folder.make();
  await chooseToUpload(page, "Files", [await folder.write(FILM, FILM_BYTES)]);
  const row = uploadRow(page, FILM);
  await row.getByText(/ of 25 MB/).waitFor();
  await openSection(page, "Connect");
  await card(page).getByText("Uploading 1 file").waitFor();
  const drive = project.drive("photos");
  await waitUntil(async () => (await partsOf(fixture)).length === 2, "two parts");
  await inspect(page, "upload-card");
  const before = await page.evaluate(() =>
    !dispatchEvent(new Event("beforeunload", { cancelable: true }))
  );
  assert(before, "The page closes without a question");
  await row.getByRole("button", { name: `Pause ${FILM}` }).click();
  await card(page).getByText("1 upload paused").waitFor();
  await part.release();
  assertEquals(await drive.names(), ["notes.txt"]);
  await row.getByRole("button", { name: `Resume ${FILM}` }).click();
  await card(page).getByText("1 upload done").waitFor();
  assertEquals((await drive.details()).find(({ name }) => name === FILM)?.size, FILM_BYTES.length);
  await openFolder(fixture, "photos");
  await holdPart(page, 2);
  const again = await folder.write("other.bin", FILM_BYTES);
  await chooseToUpload(page, "Files", [again]);
  await waitUntil(async () => (await openUploads(drive)).length === 1, "an upload");
  await card(page).getByRole("button", { name: "Cancel all" }).click();
  await dialog(page, "Cancel 1 upload?").getByRole("button", { name: "Cancel upload" }).click();
  await waitUntil(async () => (await openUploads(drive)).length === 0, "the end of the upload");
  await card(page).waitFor({ state: "detached" });
});

test("The page of uploads shows those of this browser and of others, which can be aborted", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
  const drive = project.drive("photos");
  (await drive.send("POST", "/uploads?name=backup/monday.tar")).expect(202);
  await holdPart(page, 3);
  await using folder = await Folder.make();
  await chooseToUpload(page, "Files", [
    await folder.write(FILM, FILM_BYTES),
    await folder.write("cat.jpg", patternBytes(400_000)),
  ]);
  await card(page).getByText("Uploading 2 of 2 files").waitFor();
  await openSection(page, "Uploads");
  await page.getByRole("heading", { name: "This browser" }).waitFor();
  assertEquals(await card(page).count(), 0);
  const other = page.getByRole("row", { name: /backup\/monday.tar/ });
  await other.waitFor();
  await inspect(page, "uploads");
  await other.getByRole("button", { name: "Abort the upload of monday.tar" }).click();
  const question = dialog(page, "Abort the upload of “monday.tar”?");
  await question.getByRole("button", { name: "Abort upload" }).click();
  await other.waitFor({ state: "detached" });
  assertEquals((await openUploads(drive)).map(({ name }) => name), [FILM]);
  await page.getByRole("button", { name: `Cancel ${FILM}` }).click();
  await waitUntil(async () => (await openUploads(drive)).length === 0, "the end of the upload");
  await page.getByRole("button", { name: "Close the list" }).click();
  await page.getByText("No uploads").waitFor();
  await inspect(page, "uploads-empty");
});

/** The parts of the only open upload. */
async function partsOf({ project }: Fixture): Promise<unknown[]> {
  const drive = project.drive("photos");
  const [upload] = await openUploads(drive);
  if (upload === undefined) return [];
  const answer = await drive.send("GET", `/uploads/${upload.upload_id}?name=${FILM}`);
  return (answer.json as { parts?: unknown[] }).parts ?? [];
}
