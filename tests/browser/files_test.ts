import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertSameBytes, patternBytes, sha256Hex } from "../support/bytes.ts";
import { dialog, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

import { listedNames, openPhotos, waitForNames } from "./support/photos_drive.ts";

const test = suite("Drives, folders and files");

test("Links in the list open folders, and the breadcrumb leads back up", async (fixture) => {
  const { page } = fixture;
  await openPhotos(fixture);
  await waitForNames(page, ["album.zip", "budget.csv", "notes.txt", "pets"]);
  await entry(page, "pets").getByRole("link").click();
  await waitForNames(page, ["2021", "cat.jpg"]);
  await entry(page, "2021").getByRole("link").click();
  await entry(page, "dog.png").waitFor();
  const breadcrumb = page.getByRole("navigation", { name: "Folders" });
  assertEquals(await breadcrumb.getByRole("listitem").allInnerTexts(), [
    "Drives",
    "photos",
    "pets",
    "2021",
  ]);
  await breadcrumb.getByRole("link", { name: "pets" }).click();
  await entry(page, "cat.jpg").waitFor();
  await page.goBack();
  await entry(page, "dog.png").waitFor();
  await breadcrumb.getByRole("link", { name: "photos" }).click();
  await entry(page, "notes.txt").waitFor();
});

test("Every column sorts in both directions", async (fixture) => {
  const { page } = fixture;
  await openPhotos(fixture);
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
    assertEquals([await head.getAttribute("aria-sort"), await listedNames(page)], [
      "ascending",
      order,
    ]);
    await head.getByRole("button").click();
    const [folder = "", ...files] = order;
    const down = column === "Name" ? order.toReversed() : [folder, ...files.toReversed()];
    assertEquals([await head.getAttribute("aria-sort"), await listedNames(page)], [
      "descending",
      down,
    ]);
  }
});

test("A search finds names by their beginning, in the folder or in the whole drive", async (fixture) => {
  const { page } = fixture;
  await openPhotos(fixture);
  const search = page.getByRole("searchbox", { name: "Search by the beginning of the name" });
  await search.fill("n");
  await waitForNames(page, ["notes.txt"]);
  await page.getByRole("combobox", { name: "Where to search" }).selectOption({ index: 1 });
  await search.fill("pets/");
  await waitForNames(page, ["pets/2021/dog.png", "pets/cat.jpg"]);
  await search.fill("nothing like it");
  await page.getByText(/nothing like it/).waitFor();
  await search.fill("");
  await entry(page, "album.zip").waitFor();
});

test(
  "A download saves the bytes under the name of the file, and the details show its metadata",
  async (fixture) => {
    const { page, project } = fixture;
    await openPhotos(fixture);
    await entry(page, "album.zip").getByRole("button").click();
    const details = dialog(page, "album.zip");
    await details.getByText("There is no preview of this type of file").waitFor();
    const bytes = patternBytes(70_000);
    await details.getByText(await sha256Hex(bytes)).waitFor();
    await details.getByText(await project.drive("photos").etag("album.zip")).waitFor();
    await details.getByText("70.0 kB (70,000 bytes)").waitFor();
    const save = details.getByRole("button", { name: "Download" });
    const [saved] = await Promise.all([page.waitForEvent("download"), save.click()]);
    assertEquals(saved.suggestedFilename(), "album.zip");
    assertSameBytes(await Deno.readFile(await saved.path()), bytes);
    const line = await details.getByLabel("With curl").inputValue();
    assert(!line.includes(project.key), "The curl line contains the key");
    await details.getByRole("button", { name: "Close" }).click();
    await details.waitFor({ state: "detached" });
  },
);

test(
  "Selected files and folders are deleted after a dialog with their number",
  async (fixture) => {
    const { page, project } = fixture;
    await openPhotos(fixture);
    await entry(page, "budget.csv").getByRole("checkbox").click();
    await entry(page, "pets").getByRole("checkbox").click();
    await page.getByText("2 entries selected").waitFor();
    await page.getByRole("button", { name: "Delete…" }).click();
    const question = dialog(page, "Delete 3 files?");
    await question.getByRole("button", { name: "Cancel" }).click();
    assertEquals((await project.drive("photos").names()).length, 5);
    await page.getByRole("button", { name: "Delete…" }).click();
    await question.getByRole("button", { name: "Delete 3 files" }).click();
    await waitForNames(page, ["album.zip", "notes.txt"]);
    assertEquals(await project.drive("photos").names(), ["album.zip", "notes.txt"]);
    await page.getByRole("button", { name: /Delete…/ }).waitFor({ state: "hidden" });
    await page.getByRole("checkbox", { name: "Select all loaded" }).click();
    await page.getByRole("button", { name: "Delete…" }).click();
    await dialog(page, "Delete 2 files?").getByRole("button", { name: "Delete 2 files" }).click();
    await page.getByText("This folder is empty").waitFor();
  },
);

test("A drive is deleted after its name is typed", async (fixture) => {
  const { page, project } = fixture;
  await openPhotos(fixture);
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

/** Names with special characters of paths, URLs and HTML. */
const AWKWARD = [
  "a b+c%20.txt",
  "?x=1&y#z",
  "ä\u0308 😀.txt",
  "..",
  "new\nline",
  '"quotes" \\ \'',
  " ",
];

test("Files with special characters in their names are listed, opened and deleted", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive("odd & ends/".replace("/", ""));
  for (const name of AWKWARD) await drive.put(`in %2F/${name}.`, name);
  await drive.put("/starts.txt", "with a slash");
  await drive.put("a//b.txt", "with an empty segment");
  await signInAsOwner(fixture);
  await openFolder(fixture, drive.name, "in %2F");
  const rows = page.getByRole("grid").getByRole("row").getByRole("button").filter({
    hasText: /\.$/,
  });
  await rows.nth(AWKWARD.length - 1).waitFor();
  assertEquals(await rows.count(), AWKWARD.length);
  for (const index of AWKWARD.keys()) {
    await rows.nth(index).click();
    await page.getByRole("dialog").getByText("ETag").waitFor();
    await page.keyboard.press("Escape");
  }
  await openFolder(fixture, drive.name, "a", "");
  await entry(page, "b.txt").waitFor();
  await openFolder(fixture, drive.name, "in %2F");
  await page.getByRole("checkbox", { name: "Select all loaded" }).click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: `Delete ${AWKWARD.length} files` }).click();
  await page.getByText("This folder is empty").waitFor();
  assertEquals(await drive.names(), ["/starts.txt", "a//b.txt"]);
});
