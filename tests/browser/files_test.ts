import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { assertSameBytes, patternBytes, sha256Hex, utf8 } from "../support/bytes.ts";
import { dialog, openSection, signInAsOwner } from "./support/desk.ts";
import type { Scene } from "./support/scene.ts";
import { stories } from "./support/stories.ts";
import { choose, drop, entry, file, openFolder, transfer } from "./support/uploads.ts";

const story = stories("Drives, folders and files");

/** The names in the list, as they stand below each other. */
async function listed(page: Page): Promise<string[]> {
  const boxes = page.getByRole("grid").getByRole("row").getByRole("checkbox", {
    name: /^Select (?!all)/,
  });
  const labels = await boxes.evaluateAll((all) => all.map((box) => box.getAttribute("aria-label")));
  return labels.map((label) => label?.replace("Select ", "") ?? "");
}

/** Some files in two folders, of which the lists know size, type and time. */
async function fillDrive({ project }: Scene): Promise<void> {
  const drive = project.drive("photos");
  await drive.put("pets/cat.jpg", patternBytes(3000), { "Content-Type": "image/jpeg" });
  await drive.put("pets/2021/dog.png", patternBytes(500));
  await drive.put("budget.csv", "a,b\n1,2\n");
  await drive.put("album.zip", patternBytes(70_000));
  await drive.put("notes.txt", "written last");
}

async function openPhotos(scene: Scene): Promise<void> {
  await fillDrive(scene);
  await signInAsOwner(scene);
  await openSection(scene.page, "Files");
  await scene.page.getByRole("link", { name: "photos" }).click();
  await entry(scene.page, "notes.txt").waitFor();
}

story(
  "A project without files tells what to do, and a first file makes the drive.",
  async (scene) => {
    const { page, project } = scene;
    await signInAsOwner(scene);
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

story("Folders are walked down by their names, and up by the path above them.", async (scene) => {
  const { page } = scene;
  await openPhotos(scene);
  assertEquals(await listed(page), ["album.zip", "budget.csv", "notes.txt", "pets"]);
  await entry(page, "pets").getByRole("link").click();
  await entry(page, "cat.jpg").waitFor();
  assertEquals(await listed(page), ["2021", "cat.jpg"]);
  await entry(page, "2021").getByRole("link").click();
  await entry(page, "dog.png").waitFor();
  const path = page.getByRole("navigation", { name: "Folders" });
  assertEquals(await path.getByRole("listitem").allInnerTexts(), [
    "Drives",
    "photos",
    "pets",
    "2021",
  ]);
  await path.getByRole("link", { name: "pets" }).click();
  await entry(page, "cat.jpg").waitFor();
  await page.goBack();
  await entry(page, "dog.png").waitFor();
  await path.getByRole("link", { name: "photos" }).click();
  await entry(page, "notes.txt").waitFor();
});

story("Every column sorts, up and down.", async (scene) => {
  const { page } = scene;
  await openPhotos(scene);
  const row = await entry(page, "album.zip").innerText();
  assertMatch(row, /70\.0 kB[^]*application\/zip[^]*\d{1,2} \w{3,4} \d{4}/);
  const orders: Record<string, string[]> = {
    Size: ["pets", "budget.csv", "notes.txt", "album.zip"],
    Type: ["pets", "album.zip", "budget.csv", "notes.txt"],
    Name: ["album.zip", "budget.csv", "notes.txt", "pets"],
  };
  for (const [column, order] of Object.entries(orders)) {
    const head = page.getByRole("columnheader", { name: column });
    await head.getByRole("button").click();
    assertEquals([await head.getAttribute("aria-sort"), await listed(page)], ["ascending", order]);
    await head.getByRole("button").click();
    const [folder = "", ...files] = order;
    const down = column === "Name" ? order.toReversed() : [folder, ...files.toReversed()];
    assertEquals([await head.getAttribute("aria-sort"), await listed(page)], ["descending", down]);
  }
});

story("A search finds what begins so, in the folder or in the whole drive.", async (scene) => {
  const { page } = scene;
  await openPhotos(scene);
  const search = page.getByRole("searchbox", { name: "Search by the beginning of the name" });
  await search.fill("n");
  await entry(page, "album.zip").waitFor({ state: "detached" });
  assertEquals(await listed(page), ["notes.txt"]);
  await page.getByRole("combobox", { name: "Where to search" }).selectOption({ index: 1 });
  await search.fill("pets/");
  await entry(page, "pets/2021/dog.png").waitFor();
  assertEquals(await listed(page), ["pets/2021/dog.png", "pets/cat.jpg"]);
  await search.fill("nothing like it");
  await page.getByText(/nothing like it/).waitFor();
  await search.fill("");
  await entry(page, "album.zip").waitFor();
});

story("Files and whole folders are dropped onto the page.", async (scene) => {
  const { page, project } = scene;
  await openPhotos(scene);
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  await Deno.mkdir(`${folder}/trip/day 1`, { recursive: true });
  for (let i = 0; i < 120; i++) await Deno.writeTextFile(`${folder}/trip/day 1/${i}.txt`, `${i}`);
  await Deno.writeTextFile(`${folder}/trip/plan.md`, "# Plan");
  await Deno.writeTextFile(`${folder}/ticket.pdf`, "a ticket");
  await drop(scene, [`${folder}/trip`, `${folder}/ticket.pdf`]);
  await page.getByRole("region", { name: "Transfers of this tab" }).getByText("122 files uploaded")
    .waitFor();
  await entry(page, "ticket.pdf").waitFor();
  await entry(page, "trip").waitFor();
  const drive = project.drive("photos");
  assertEquals((await drive.names({ prefix: "trip/" })).length, 121);
  assertEquals(await drive.text("trip/day 1/119.txt"), "119");
  await Deno.remove(folder, { recursive: true });
});

story("A folder is chosen with a button, into the folder that is open.", async (scene) => {
  const { page, project } = scene;
  await openPhotos(scene);
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  await Deno.mkdir(`${folder}/trip/inner`, { recursive: true });
  await Deno.writeTextFile(`${folder}/trip/inner/a.txt`, "a");
  await openFolder(scene, "photos", "pets");
  await choose(page, "Upload a folder", `${folder}/trip`);
  await entry(page, "trip").waitFor();
  assertEquals(await project.drive("photos").text("pets/trip/inner/a.txt"), "a");
  await Deno.remove(folder, { recursive: true });
});

story("A name that is taken is asked about before it is overwritten.", async (scene) => {
  const { page, project } = scene;
  await openPhotos(scene);
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
  await transfer(page, "notes.txt").getByText("uploaded").waitFor();
  assertEquals(await drive.text("notes.txt"), "new");
});

story(
  "A download gives the bytes under the file's name, the details what is known of them.",
  async (scene) => {
    const { page, project } = scene;
    await openPhotos(scene);
    await entry(page, "album.zip").getByRole("button").click();
    const details = dialog(page, "album.zip");
    await details.getByText("There is no preview of this kind of file").waitFor();
    const bytes = patternBytes(70_000);
    await details.getByText(await sha256Hex(bytes)).waitFor();
    await details.getByText(await project.drive("photos").etag("album.zip")).waitFor();
    await details.getByText("70.0 kB (70,000 bytes)").waitFor();
    const save = details.getByRole("button", { name: "Download" });
    const [saved] = await Promise.all([page.waitForEvent("download"), save.click()]);
    assertEquals(saved.suggestedFilename(), "album.zip");
    assertSameBytes(await Deno.readFile(await saved.path()), bytes);
    const line = await details.getByLabel("With curl").inputValue();
    assert(!line.includes(project.key), "The key stands in a line");
    await details.getByRole("button", { name: "Close" }).click();
    await details.waitFor({ state: "detached" });
  },
);

story(
  "Several are selected and deleted, after a question that counts, folders with all in them.",
  async (scene) => {
    const { page, project } = scene;
    await openPhotos(scene);
    await entry(page, "budget.csv").getByRole("checkbox").click();
    await entry(page, "pets").getByRole("checkbox").click();
    await page.getByText("2 entries selected").waitFor();
    await page.getByRole("button", { name: "Delete…" }).click();
    const question = dialog(page, "Delete 3 files?");
    await question.getByRole("button", { name: "Cancel" }).click();
    assertEquals((await project.drive("photos").names()).length, 5);
    await page.getByRole("button", { name: "Delete…" }).click();
    await question.getByRole("button", { name: "Delete 3 files" }).click();
    await entry(page, "pets").waitFor({ state: "detached" });
    assertEquals(await listed(page), ["album.zip", "notes.txt"]);
    assertEquals(await project.drive("photos").names(), ["album.zip", "notes.txt"]);
    await page.getByRole("button", { name: /Delete…/ }).waitFor({ state: "hidden" });
    await page.getByRole("checkbox", { name: "Select all loaded" }).click();
    await page.getByRole("button", { name: "Delete…" }).click();
    await dialog(page, "Delete 2 files?").getByRole("button", { name: "Delete 2 files" }).click();
    await page.getByText("There is nothing here").waitFor();
  },
);

story("A drive is deleted with its name typed in.", async (scene) => {
  const { page, project } = scene;
  await openPhotos(scene);
  await page.getByRole("link", { name: "Drives", exact: true }).click();
  await page.getByRole("button", { name: "Delete the drive photos" }).click();
  const question = dialog(page, /Delete the drive .photos./);
  const button = question.getByRole("button", { name: /^Delete/ });
  assertEquals(await button.isDisabled(), true);
  await question.getByLabel(/Type .photos. to confirm/).fill("photo");
  assertEquals(await button.isDisabled(), true);
  await question.getByLabel(/Type .photos. to confirm/).fill("photos");
  await button.click();
  await page.getByText("This project has no files yet").waitFor();
  assertEquals((await project.files("GET", "")).expect(200).json, {
    project_id: project.id,
    drives: [],
  });
});

/** Names that a path, an address or a page could misread. */
const AWKWARD = [
  "a b+c%20.txt",
  "?x=1&y#z",
  "ä\u0308 😀.txt",
  "..",
  "new\nline",
  '"quotes" \\ \'',
  " ",
];

story("Whatever a file is called, it is listed, shown and deleted by its name.", async (scene) => {
  const { page, project } = scene;
  const drive = project.drive("odd & ends/".replace("/", ""));
  for (const name of AWKWARD) await drive.put(`in %2F/${name}.`, name);
  await drive.put("/starts.txt", "with a slash");
  await drive.put("a//b.txt", "with an empty segment");
  await signInAsOwner(scene);
  await openFolder(scene, drive.name, "in %2F");
  const rows = page.getByRole("grid").getByRole("row").getByRole("button").filter({
    hasText: /\.$/,
  });
  assertEquals(await rows.count(), AWKWARD.length);
  for (const index of AWKWARD.keys()) {
    await rows.nth(index).click();
    await page.getByRole("dialog").getByText("ETag").waitFor();
    await page.keyboard.press("Escape");
  }
  await openFolder(scene, drive.name, "a", "");
  await entry(page, "b.txt").waitFor();
  await openFolder(scene, drive.name, "in %2F");
  await page.getByRole("checkbox", { name: "Select all loaded" }).click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: `Delete ${AWKWARD.length} files` }).click();
  await page.getByText("There is nothing here").waitFor();
  assertEquals(await drive.names(), ["/starts.txt", "a//b.txt"]);
});
