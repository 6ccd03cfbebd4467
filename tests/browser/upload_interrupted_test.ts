import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../support/command.ts";
import { signInAsOwner } from "./support/navigation.ts";
import type { Fixture } from "./support/fixture.ts";
import { StallingProxy } from "./support/stalling_proxy.ts";
import { suite } from "./support/suite.ts";
import {
  choose,
  openFolder,
  openUploads,
  recordParts,
  uploadRow,
  waitUntil,
} from "./support/uploads.ts";
import {
  assertUploaded,
  chooseFilm,
  FILM,
  FILM_BYTES,
  holdPart,
  openFilmsDrive,
} from "./support/large_upload.ts";

const test = suite("Interrupted uploads of large files");

test("Signing out stops an upload, which resumes after the next sign-in", async (fixture) => {
  const { page, project } = fixture;
  await openFilmsDrive(fixture);
  const part = await holdPart(page, 3);
  await using folder = await Folder.make();
  // Written once: another modification time would make it another file.
  const path = await folder.write(FILM, FILM_BYTES);
  await choose(page, "Upload files", path);
  await uploadRow(page, FILM).getByText(/B\/s/).waitFor();
  const sent: string[] = [];
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to kvdrive" }).waitFor();
  page.on("request", (request) => sent.push(request.url()));
  assertEquals((await openUploads(project.drive("films"))).length, 1);
  await part.release();
  await signInAsOwner(fixture);
  await openFolder(fixture, "films");
  assertEquals(sent.filter((url) => url.includes("/parts")), []);
  await choose(page, "Upload files", path);
  await uploadRow(page, FILM).getByText("uploaded").waitFor();
  await assertUploaded(fixture);
});

test("A part that failed temporarily is sent again, and no other part", async (fixture) => {
  const { page, observer } = fixture;
  observer.allow(/status of 503/);
  await openFilmsDrive(fixture);
  const parts = recordParts(page);
  const messageShown = Promise.withResolvers<void>();
  await page.route("**/parts?*part=2*", async (route) => {
    if (parts.filter((part) => part === 2).length === 1) {
      return await route.fulfill({ status: 503, json: { errors: ["The server is busy"] } });
    }
    // The message disappears when the second attempt succeeds.
    await messageShown.promise;
    await route.continue();
  });
  await using folder = await Folder.make();
  await chooseFilm(page, folder);
  await uploadRow(page, FILM).getByText(/^Trying part 2 again in 1 s: The server is busy/)
    .waitFor();
  messageShown.resolve();
  await uploadRow(page, FILM).getByText("uploaded").waitFor();
  assertEquals(parts.toSorted(), [1, 2, 2, 3]);
  await assertUploaded(fixture);
});

test(
  "An upload survives a broken connection",
  async (fixture) => {
    const { page, server, observer } = fixture;
    observer.allow(/ERR_(CONNECTION|EMPTY|SOCKET|NETWORK)/);
    await using proxy = new StallingProxy(server, 8_000_000);
    await openFilmsDrive(fixture, proxy.origin);
    await using folder = await Folder.make();
    await chooseFilm(page, folder);
    await proxy.stalled;
    proxy.breakConnections();
    await uploadRow(page, FILM).getByText("uploaded").waitFor();
    await assertUploaded(fixture);
  },
);

test(
  "An upload with a part that keeps failing shows the reason, and a retry sends only that part",
  async (fixture) => {
    const { page, observer } = fixture;
    observer.allow(/ERR_CONNECTION_RESET/);
    await openFilmsDrive(fixture);
    await page.route("**/parts?*part=3*", (route) => route.abort("connectionreset"));
    await using folder = await Folder.make();
    await chooseFilm(page, folder);
    const row = uploadRow(page, FILM);
    const retry = row.getByRole("button", { name: `Retry the upload of ${FILM}` });
    await retry.waitFor();
    assertMatch(await row.innerText(), /Failed with 2\d(\.\d)? MB of 25\.0 MB/);
    assertMatch(await row.innerText(), /The server cannot be reached/);
    await page.unroute("**/parts?*part=3*");
    const parts = recordParts(page);
    await retry.click();
    await row.getByText("uploaded").waitFor();
    assertEquals(parts, [3]);
    await assertUploaded(fixture);
  },
);

test(
  "After the tab was closed, the same file chosen again resumes its upload",
  async (fixture) => {
    const { page, context, project, observer } = fixture;
    observer.allow(/ERR_FAILED/);
    const path = `${await Deno.makeTempDir({ prefix: "kvdrive-test-" })}/${FILM}`;
    await Deno.writeFile(path, FILM_BYTES);
    await openFilmsDrive(fixture);
    const part = await holdPart(page, 3);
    await choose(page, "Upload files", path);
    const drive = project.drive("films");
    await waitUntil(async () => await partsOf(fixture) === "1 2", "two parts");
    await part.abort();
    await page.close();
    const later = await context.newPage();
    const parts = recordParts(later);
    const again = fixture.withPage(later);
    await signInAsOwner(again);
    await openFolder(again, "films");
    assertEquals((await openUploads(drive)).length, 1);
    await choose(later, "Upload files", path);
    await uploadRow(later, FILM).getByText("uploaded").waitFor();
    assertEquals(parts, [3]);
    await assertUploaded(fixture);
  },
);

/** The numbers of the stored parts of the only open upload. */
async function partsOf({ project }: Fixture): Promise<string> {
  const drive = project.drive("films");
  const [upload] = await openUploads(drive);
  if (upload === undefined) return "";
  const answer = await drive.send("GET", `/uploads/${upload.upload_id}?name=${FILM}`);
  const { parts } = answer.expect(200).json as { parts: { part: number }[] };
  assert(parts.length <= 2, "The third part arrived");
  return parts.map(({ part }) => part).join(" ");
}
