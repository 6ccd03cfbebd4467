import { assertEquals } from "@std/assert";
import { assertSameBytes, utf8 } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import type { Fixture } from "./support/fixture.ts";
import { submitSecret } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { StallingProxy } from "./support/stalling_proxy.ts";
import { suite } from "./support/suite.ts";
import {
  card,
  chooseToUpload,
  FILM,
  FILM_BYTES,
  holdPart,
  openPhotos,
  uploadRow,
} from "./support/transfers.ts";
import { file, openFolder, openUploads, recordParts, waitUntil } from "./support/uploads.ts";

const test = suite("Interrupted uploads");

/** Fails unless the whole film is stored and no upload is open. */
async function assertUploaded({ project }: Fixture): Promise<void> {
  const drive = project.drive("photos");
  assertSameBytes((await drive.get(FILM)).expect(200).bytes, FILM_BYTES);
  assertEquals(await openUploads(drive), []);
}

/** Waits until the server has the first two parts of the film. */
async function twoParts({ project }: Fixture): Promise<void> {
  const drive = project.drive("photos");
  await waitUntil(async () => {
    const [upload] = await openUploads(drive);
    if (upload === undefined) return false;
    const answer = await drive.send("GET", `/uploads/${upload.upload_id}?name=${FILM}`);
    return (answer.json as { parts: unknown[] }).parts.length === 2;
  }, "two parts");
}

/** Chooses the file of an interrupted upload. */
async function chooseAgain({ page }: Fixture, path: string): Promise<void> {
  const button = uploadRow(page, FILM).getByRole("button", { name: `Choose the file of ${FILM}` });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  await chooser.setFiles(path);
}

test("After a reload the same file continues with the missing part, and no other file does", async (fixture) => {
  const { page, observer } = fixture;
  observer.allow(/ERR_FAILED/);
  await openPhotos(fixture);
  const part = await holdPart(page, 3);
  await using folder = await Folder.make();
  const path = await folder.write(FILM, FILM_BYTES);
  const other = await folder.write("other.bin", FILM_BYTES.subarray(1));
  await chooseToUpload(page, "Files", [path]);
  await twoParts(fixture);
  await part.abort();
  await page.reload();
  await part.release();
  await card(page).getByText("1 upload interrupted").waitFor();
  await uploadRow(page, FILM).getByText("83% kept, 21 MB of 25 MB").waitFor();
  await inspect(page, "upload-card-interrupted");
  const parts = recordParts(page);
  await chooseAgain(fixture, other);
  await page.getByText("“other.bin” is another file, or it was changed since").waitFor();
  await chooseAgain(fixture, path);
  await card(page).getByText("1 upload done").waitFor();
  assertEquals(parts, [3]);
  await assertUploaded(fixture);
  await page.reload();
  await page.getByRole("grid").waitFor();
  assertEquals(await card(page).count(), 0);
});

test("Small files that a reload lost are listed, and sent when they are chosen again", async (fixture) => {
  const { page, project, observer } = fixture;
  observer.allow(/ERR_FAILED/);
  await openPhotos(fixture);
  await page.route("**/files?name=*", () => {});
  await using folder = await Folder.make();
  const paths = [];
  for (const name of ["a.txt", "b.txt", "c.txt"]) paths.push(await folder.write(name, name));
  await chooseToUpload(page, "Files", paths);
  await card(page).getByText("Uploading 1 of 3 files").waitFor();
  await page.reload();
  await page.unrouteAll();
  await card(page).getByText("3 uploads interrupted").waitFor();
  await uploadRow(page, "a.txt").getByText("Not sent: choose the file again").waitFor();
  await uploadRow(page, "c.txt").getByRole("button", { name: "Cancel c.txt" }).click();
  await chooseToUpload(page, "Files", paths.slice(0, 2));
  await card(page).getByText("2 uploads done").waitFor();
  assertEquals(await project.drive("photos").names(), ["a.txt", "b.txt", "notes.txt"]);
  await page.reload();
  await page.getByRole("grid").waitFor();
  assertEquals(await card(page).count(), 0);
});

test("An upload in another tab is not taken for an interrupted one", async (fixture) => {
  const { page, context, observer } = fixture;
  observer.allow(/ERR_FAILED/);
  await openPhotos(fixture);
  const part = await holdPart(page, 3);
  await using folder = await Folder.make();
  await chooseToUpload(page, "Files", [await folder.write(FILM, FILM_BYTES)]);
  await twoParts(fixture);
  const other = fixture.withPage(await context.newPage());
  await other.page.goto(page.url());
  await other.page.getByRole("grid").waitFor();
  await other.page.waitForTimeout(300);
  assertEquals(await card(other.page).count(), 0);
  await part.abort();
});

test("After broken connections an upload goes on by itself", async (fixture) => {
  const { page, observer, server } = fixture;
  observer.allow(/ERR_(CONNECTION|EMPTY|SOCKET|NETWORK|INCOMPLETE)/);
  await using proxy = new StallingProxy(server, 8_000_000);
  await openPhotos(fixture, { origin: proxy.origin });
  await using folder = await Folder.make();
  await chooseToUpload(page, "Files", [await folder.write(FILM, FILM_BYTES)]);
  await proxy.stalled;
  proxy.breakConnections();
  await card(page).getByText("1 upload done").waitFor();
  await assertUploaded(fixture);
});

test("While the server is out of reach uploads wait, and go on when it answers", async (fixture) => {
  const { page, context, observer } = fixture;
  observer.allow(/ERR_INTERNET_DISCONNECTED/);
  await openPhotos(fixture);
  await chooseToUpload(page, "Files", [file("first.txt", utf8("1"))]);
  await card(page).getByText("1 upload done").waitFor();
  await page.route("**/files?name=*", async (route) => {
    await context.setOffline(true);
    await route.abort("internetdisconnected");
  }, { times: 1 });
  await chooseToUpload(page, "Files", [file("second.txt", utf8("2"))]);
  await uploadRow(page, "second.txt").getByText("This device is offline: trying again").waitFor();
  await context.setOffline(false);
  await card(page).getByText("1 upload done").waitFor();
});

test("A busy server is asked again after the time that it names", async (fixture) => {
  const { page, observer } = fixture;
  observer.allow(/status of (503|429)/);
  await openPhotos(fixture);
  const times: number[] = [];
  await page.route("**/files?name=*", async (route) => {
    times.push(performance.now());
    if (times.length > 2) return await route.continue();
    await route.fulfill({
      status: times.length === 1 ? 503 : 429,
      headers: { "Retry-After": "2" },
      json: { errors: ["Too many uploads are running"] },
    });
  });
  await chooseToUpload(page, "Files", [file("a.txt", utf8("a"))]);
  await uploadRow(page, "a.txt").getByText("Too many uploads are running: trying again").waitFor();
  await card(page).getByText("1 upload done").waitFor();
  const [first = 0, second = 0, third = 0] = times;
  assertEquals([second - first >= 1900, third - second >= 1900], [true, true]);
});

test("A revoked key ends the session; the upload continues after the next sign-in", async (fixture) => {
  const { page, project, observer } = fixture;
  observer.allow(/status of 401|ERR_/);
  const made = await project.makeKey();
  observer.registerSecret(made.project_key);
  await openPhotos(fixture, { key: made.project_key });
  const part = await holdPart(page, 3);
  await using folder = await Folder.make();
  const path = await folder.write(FILM, FILM_BYTES);
  await chooseToUpload(page, "Files", [path]);
  await twoParts(fixture);
  (await project.call("DELETE", `/keys/${made.prefix}`)).expect(200);
  await part.abort();
  await part.release();
  await page.getByRole("heading", { name: "Sign in to kvdrive" }).waitFor();
  await submitSecret(page, project.key);
  await openFolder(fixture, "photos");
  await card(page).getByText("1 upload interrupted").waitFor();
  const parts = recordParts(page);
  await chooseAgain(fixture, path);
  await card(page).getByText("1 upload done").waitFor();
  assertEquals(parts, [3]);
  await assertUploaded(fixture);
});
