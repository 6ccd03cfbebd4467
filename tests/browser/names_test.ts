import { assertEquals } from "@std/assert";
import type { Drive } from "../support/drive.ts";
import type { Fixture } from "./support/fixture.ts";
import { dialog, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Names of copied, moved and renamed files");

/** More files than one page of a list has; their names come before those of the tests. */
const MANY = Array.from({ length: 1100 }, (_, index) => `many/f${index}`);

/** Signs in and opens a folder of a drive with some files. */
async function openDrive(fixture: Fixture, names: string[], ...folders: string[]): Promise<Drive> {
  const drive = fixture.project.drive("docs");
  for (const name of names) await drive.put(name, `content of ${name}`);
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs", ...folders);
  await entry(fixture.page, names[0]?.split("/")[folders.length] ?? "").waitFor();
  return drive;
}

/** Edits the name of an entry in its place. */
async function rename({ page }: Fixture, from: string, to: string): Promise<void> {
  await entry(page, from).click();
  await page.keyboard.press("F2");
  await page.keyboard.type(to);
  await page.keyboard.press("Enter");
}

test("A copy in the same folder gets a number, that of a folder, too", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["a.txt", "trip/x.txt"]);
  await entry(page, "a.txt").click();
  await entry(page, "trip").click({ modifiers: ["Control"] });
  await page.keyboard.press("Control+c");
  for (const number of [2, 3]) {
    await page.keyboard.press("Control+v");
    await entry(page, `trip (${number})`).waitFor();
  }
  assertEquals(await drive.names(), [
    "a (2).txt",
    "a (3).txt",
    "a.txt",
    "trip (2)/x.txt",
    "trip (3)/x.txt",
    "trip/x.txt",
  ]);
});

test("Both files of one name that a search found are kept when they are moved", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["a/x.txt", "b/x.txt", "t/y.txt"]);
  await page.getByRole("searchbox").fill("x.txt");
  await entry(page, "x.txt").first().click();
  await entry(page, "x.txt").nth(1).waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+x");
  await openFolder(fixture, "docs", "t");
  await entry(page, "y.txt").waitFor();
  await page.keyboard.press("Control+v");
  await page.getByText("Moved 2 items to “t”").waitFor();
  assertEquals(await drive.names(), ["t/x (2).txt", "t/x.txt", "t/y.txt"]);
  const contents = await Promise.all(["t/x.txt", "t/x (2).txt"].map((name) => drive.text(name)));
  assertEquals(contents, ["content of a/x.txt", "content of b/x.txt"]);
});

test("Files that were cut are not asked about when they are pasted a second time", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture, ["a.txt", "t/y.txt"]);
  await entry(page, "a.txt").click();
  await page.keyboard.press("Control+x");
  await openFolder(fixture, "docs", "t");
  await entry(page, "y.txt").waitFor();
  await page.keyboard.press("Control+v");
  await entry(page, "a.txt").waitFor();
  await page.keyboard.press("Control+v");
  await page.getByText("Cannot move 1 file: There is no file").waitFor();
  assertEquals(await page.getByRole("dialog").count(), 0);
});

test("A renamed entry stays selected, also if Enter is pressed twice", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["a.txt", "b.txt", "c.txt"]);
  const pressed = Promise.withResolvers<void>();
  await page.route("**/files/move", async (route) => {
    await pressed.promise;
    await route.continue();
  });
  await rename(fixture, "a.txt", "bb");
  await page.keyboard.press("Enter");
  pressed.resolve();
  await page.getByText("Renamed to “bb.txt”").waitFor();
  const renamed = entry(page, "bb.txt").and(page.locator("[aria-selected=true]"));
  await renamed.and(page.locator(":focus")).waitFor();
  assertEquals(await page.getByRole("dialog").count(), 0);
  assertEquals(await drive.names(), ["b.txt", "bb.txt", "c.txt"]);
});

test("The field of the next name stays open while the one before is checked, and a refusal is told", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture, ["a.txt", "b.txt", "c.txt"]);
  const checked = Promise.withResolvers<void>();
  await page.route("**/files/exist", async (route) => {
    await checked.promise;
    await route.continue();
  });
  await rename(fixture, "a.txt", "c");
  await entry(page, "b.txt").click();
  await page.keyboard.press("F2");
  const next = page.getByRole("textbox", { name: "New name of b.txt" });
  await next.waitFor();
  checked.resolve();
  await page.getByText("There is a “c.txt” already").waitFor();
  await page.keyboard.type("next");
  await page.keyboard.press("Enter");
  await page.getByText("Renamed to “next.txt”").waitFor();
});

test("Escape keeps the name, also while the new one is checked", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["a.txt", "b.txt"]);
  const isEscaped = Promise.withResolvers<void>();
  await page.route("**/files/exist", async (route) => {
    await isEscaped.promise;
    await route.continue();
  });
  const checked = page.waitForResponse("**/files/exist");
  await rename(fixture, "a.txt", "new");
  await page.keyboard.press("Escape");
  await entry(page, "a.txt").and(page.locator(":focus")).waitFor();
  isEscaped.resolve();
  await checked;
  await rename(fixture, "b.txt", "c");
  await page.getByText("Renamed to “c.txt”").waitFor();
  assertEquals(await drive.names(), ["a.txt", "c.txt"]);
});

test("A file that was renamed in a search has its new name in the folder", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture, ["a.txt", "b.txt"]);
  await page.getByRole("searchbox").fill("a");
  await entry(page, "b.txt").waitFor({ state: "detached" });
  await rename(fixture, "a.txt", "zebra");
  await page.getByText("Renamed to “zebra.txt”").waitFor();
  await page.getByRole("searchbox").fill("");
  await entry(page, "b.txt").waitFor();
  await entry(page, "zebra.txt").waitFor();
});

test("Names at the end of a large folder are known, too", async (fixture) => {
  const { page } = fixture;
  const names = ["many/a/1", "many/zz/2", "many/z.txt", "many/z (2).txt", "z.txt"];
  const drive = await openDrive(fixture, names, "many");
  await drive.fill(MANY);
  await rename(fixture, "a", "zz");
  await page.getByText("There is a “zz” already").waitFor();
  await page.keyboard.press("Escape");
  await openFolder(fixture, "docs");
  await entry(page, "z.txt").click();
  await page.keyboard.press("Control+c");
  await openFolder(fixture, "docs", "many");
  await entry(page, "f1").waitFor();
  await page.keyboard.press("Control+v");
  const question = dialog(page, "“z.txt” exists already");
  await question.getByRole("button", { name: "Keep both" }).click();
  await page.getByText("Copied “z.txt” to “many”").waitFor();
  assertEquals(await drive.text("many/z (3).txt"), "content of z.txt");
});

test("A name that cannot be is given up when the field is left, with the reason", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture, ["a.txt", "b.txt"]);
  await rename(fixture, "a.txt", "b");
  await page.getByText("There is a “b.txt” already").waitFor();
  await entry(page, "b.txt").click();
  await page.getByRole("status").getByText("There is a “b.txt” already").waitFor();
  await entry(page, "a.txt").waitFor();
  assertEquals(await page.getByRole("textbox", { name: /New name/ }).count(), 0);
});

test("An empty folder has its name, too", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["a/x"]);
  const body = JSON.stringify({ name: "empty/" });
  (await drive.send("POST", "/folders", { body })).expect(201);
  await rename(fixture, "a", "empty");
  await page.getByText("There is a “empty” already").waitFor();
});
