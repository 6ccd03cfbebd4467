import { patternBytes, utf8 } from "../support/bytes.ts";
import { Upload } from "../support/drive.ts";
import { dialog, openSection, row, signInAsOwner } from "./support/navigation.ts";
import { fillProject, LONG, openSample } from "./support/sample_project.ts";
import type { Fixture } from "./support/fixture.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { choose, entry, file, openFolder, uploadRow } from "./support/uploads.ts";

const test = suite("Every screen of files in desktop and phone size, light and dark");

async function openFile(fixture: Fixture, name: string): Promise<void> {
  await openSample(fixture);
  await entry(fixture.page, name).getByRole("button").click();
  await dialog(fixture.page, name).getByText("SHA-256").waitFor();
}

test("Drives", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await openSection(page, "Files");
  await page.getByText("This project has no files yet").waitFor();
  await inspect(page, "drives-empty");
  await fillProject(fixture);
  await page.reload();
  await row(page, "photos").waitFor();
  await inspect(page, "drives");
});

test("A folder", async (fixture) => {
  const { page } = fixture;
  await openSample(fixture);
  await inspect(page, "folder");
  await entry(page, "notes.md").getByRole("checkbox").click();
  await entry(page, "pets").getByRole("checkbox").click();
  await inspect(page, "folder-selected");
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete 2 files" }).waitFor();
  await inspect(page, "folder-delete");
  await page.keyboard.press("Escape");
  await choose(page, "Upload files", [file("notes.md", utf8("new")), file(LONG, utf8("new"))]);
  await dialog(page, "Overwrite 2 files?").waitFor();
  await inspect(page, "folder-overwrite");
  await page.keyboard.press("Escape");
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByText(/nothing like it/).waitFor();
  await inspect(page, "folder-not-found");
});

test("An empty folder", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await openFolder(fixture, "nothing", "here");
  await page.getByText("This folder is empty").waitFor();
  await inspect(page, "folder-empty");
});

for (const name of ["view.png", "notes.md", "beep.wav", "paper.pdf", "archive.zip", LONG]) {
  test(`The file ${name.slice(0, 20)}`, async (fixture) => {
    await openFile(fixture, name);
    await fixture.page.getByRole("progressbar", { name: "Loading" }).waitFor({ state: "detached" });
    await inspect(fixture.page, `file-${name.slice(-8).replace(/\W/g, "-")}`);
  });
}

test("Running, failed and finished uploads", async (fixture) => {
  const { page, observer, project } = fixture;
  observer.allow(/status of 413/);
  await openSample(fixture);
  await page.route(
    "**/files?name=failing*",
    (route) => route.fulfill({ status: 413, json: { errors: ["The body is larger than 10 MB"] } }),
  );
  await page.route("**/files?name=waiting*", () => {});
  const names = ["done.txt", "failing.bin", "waiting.bin", LONG.replace("a very", "done, very")];
  await choose(page, "Upload files", names.map((name) => file(name, patternBytes(200_000))));
  await uploadRow(page, "failing.bin").getByText(/larger than 10 MB/).waitFor();
  await uploadRow(page, "done.txt").getByText("uploaded").waitFor();
  await inspect(page, "folder-uploading");
  const upload = await Upload.start(project.drive("photos"), "films/holidays.mp4");
  await upload.send(1, patternBytes(6_000_000));
  await openSection(page, "Uploads");
  await row(page, "films/holidays.mp4").waitFor();
  await inspect(page, "uploads");
  await page.getByRole("button", { name: /^Abort the upload/ }).click();
  await inspect(page, "uploads-abort");
});

test("No uploads", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await openSection(page, "Uploads");
  await page.getByText("No upload is in progress").waitFor();
  await inspect(page, "uploads-empty");
});
