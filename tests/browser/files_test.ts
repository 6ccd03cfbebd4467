import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertSameBytes, patternBytes, sha256Hex } from "../support/bytes.ts";
import { dialog, signInAsOwner } from "./support/desk.ts";
import { stories } from "./support/stories.ts";
import { entry, openFolder } from "./support/uploads.ts";

import { listed, openPhotos } from "./support/photos.ts";

const story = stories("Drives, folders and files");

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

story(
  "A download gives the bytes under the file's name, the details what is known of them.",
  async (scene) => {
    const { page, project } = scene;
    await openPhotos(scene);
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
    await page.getByText("This folder is empty").waitFor();
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
  await rows.nth(AWKWARD.length - 1).waitFor();
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
  await page.getByText("This folder is empty").waitFor();
  assertEquals(await drive.names(), ["/starts.txt", "a//b.txt"]);
});
