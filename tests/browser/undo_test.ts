import { assertEquals } from "@std/assert";
import type { Drive } from "../support/drive.ts";
import type { Fixture } from "./support/fixture.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder, waitUntil } from "./support/uploads.ts";

const test = suite("Undo");

/** Signs in and opens a drive with some files and empty folders. The trash is on. */
async function openDrive(fixture: Fixture, names: string[]): Promise<Drive> {
  const { project } = fixture;
  const drive = project.drive("docs");
  for (const name of names) {
    if (!name.endsWith("/")) await drive.put(name, `content of ${name}`);
    else (await drive.send("POST", "/folders", { body: JSON.stringify({ name }) })).expect(201);
  }
  await project.call("PATCH", "", { body: { trash_days: 30 } });
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(fixture.page, names[0]?.split("/")[0] ?? "").waitFor();
  return drive;
}

async function undo({ page }: Fixture): Promise<void> {
  await page.getByRole("button", { name: "Undo" }).click();
}

test("Undo restores everything, although the clock of the browser is wrong", async (fixture) => {
  const { page } = fixture;
  await page.addInitScript(() => {
    const { now } = Date;
    Date.now = () => now() + 300_000;
  });
  const names = ["a.txt", "b.txt", "c.txt"];
  const drive = await openDrive(fixture, names);
  await entry(page, "a.txt").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await undo(fixture);
  await page.getByText("Restored 3 files").waitFor();
  assertEquals(await drive.names(), names);
});

test("Undo of a move takes empty folders along, and keeps those that were there", async (fixture) => {
  const { page } = fixture;
  const names = ["other/y.txt", "other/trip/", "trip/x.txt", "trip/empty/"];
  const drive = await openDrive(fixture, names);
  await entry(page, "trip").dragTo(entry(page, "other"));
  await page.getByText("Moved “trip” to “other”").waitFor();
  await undo(fixture);
  await page.getByText("Moved back").waitFor();
  const namesIn = (prefix: string) => drive.names({ recursive: "false", prefix });
  assertEquals(await namesIn("trip/"), ["trip/empty/", "trip/x.txt"]);
  assertEquals(await namesIn("other/"), ["other/trip/", "other/y.txt"]);
});

/** Moves the file "a.txt" into the folder "other", over the file of that name there. */
async function moveOver({ page }: Fixture): Promise<void> {
  await entry(page, "a.txt").dragTo(entry(page, "other"));
  await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
  await page.getByText("Moved “a.txt” to “other”").waitFor();
}

test("Undo of a move restores the file that it replaced", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["other/a.txt", "other/b.txt", "a.txt"]);
  await moveOver(fixture);
  assertEquals(await drive.text("other/a.txt"), "content of a.txt");
  await undo(fixture);
  await page.getByText("Moved back").waitFor();
  assertEquals(await drive.names(), ["a.txt", "other/a.txt", "other/b.txt"]);
  assertEquals(await drive.text("other/a.txt"), "content of other/a.txt");
  assertEquals(await drive.text("a.txt"), "content of a.txt");
});

test("Undo of a move says that a replaced file is lost if the trash is off", async (fixture) => {
  const { page, project } = fixture;
  const drive = await openDrive(fixture, ["other/a.txt", "a.txt"]);
  await project.call("PATCH", "", { body: { trash_days: 0 } });
  await moveOver(fixture);
  await undo(fixture);
  await page.getByText("Moved back. Cannot restore 1 replaced file: it is not in the trash")
    .waitFor();
  assertEquals(await drive.names(), ["a.txt"]);
  assertEquals(await drive.text("a.txt"), "content of a.txt");
});

test("A folder that was opened meanwhile follows the undo of a move into it", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture, ["trip/x.txt", "a.txt"]);
  await entry(page, "a.txt").dragTo(entry(page, "trip"));
  await page.getByText("Moved “a.txt” to “trip”").waitFor();
  await openFolder(fixture, "docs", "trip");
  await entry(page, "a.txt").waitFor();
  await undo(fixture);
  await entry(page, "a.txt").waitFor({ state: "detached" });
  await entry(page, "x.txt").waitFor();
});

test("Undo leaves an earlier deletion of the name in the trash, and says so", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["a.txt", "b.txt"]);
  const trash = async () =>
    (await drive.send("GET", "/trash")).expect(200).json as { items: { id: string }[] };
  await drive.delete(["a.txt"]);
  await drive.put("a.txt", "the second content");
  // Deletions that are older than this one.
  await page.route("**/trash?*", async (route) => {
    const response = await route.fetch();
    const { items } = await response.json() as { items: { deleted: string }[] };
    for (const item of items) item.deleted = "2026-01-01T00:00:00.000Z";
    await route.fulfill({ response, json: { items } });
  });
  await entry(page, "a.txt").click();
  await page.keyboard.press("Delete");
  await page.getByText("Moved “a.txt” to trash").waitFor();
  const [newest] = (await trash()).items;
  const body = JSON.stringify({ ids: [newest?.id] });
  (await drive.send("DELETE", "/trash", { body })).expect(200);
  await undo(fixture);
  await page.getByText("Cannot restore 1 file: it is not in the trash").waitFor();
  assertEquals(await drive.names(), ["b.txt"]);
  assertEquals((await trash()).items.length, 1);
});

test("The focus is in the list again after the button “Undo”", async (fixture) => {
  const { page } = fixture;
  await openDrive(fixture, ["a.txt", "b.txt"]);
  await entry(page, "a.txt").click();
  await page.keyboard.press("Delete");
  await entry(page, "a.txt").waitFor({ state: "detached" });
  await undo(fixture);
  await entry(page, "a.txt").waitFor();
  await entry(page, "b.txt").and(page.locator(":focus")).waitFor();
});

test("A deleted folder in which a file was stored meanwhile stays in the list", async (fixture) => {
  const { page } = fixture;
  const drive = await openDrive(fixture, ["trip/a.txt", "b.txt"]);
  let isStored = false;
  await page.route("**/files", async (route) => {
    if (route.request().method() === "DELETE" && !isStored) {
      isStored = true;
      await drive.put("trip/new.txt", "another user's file");
    }
    await route.continue();
  });
  await entry(page, "trip").click();
  await page.keyboard.press("Delete");
  await page.getByText("Moved “trip” to trash").waitFor();
  await waitUntil(async () => await entry(page, "trip").count() === 1, "the folder");
  assertEquals(await drive.names(), ["b.txt", "trip/new.txt"]);
});
