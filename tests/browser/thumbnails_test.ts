import { assert, assertEquals, assertLess } from "@std/assert";
import type { Page, Request } from "playwright-core";
import type { Drive } from "../support/drive.ts";
import type { Fixture } from "./support/fixture.ts";
import { signInAsOwner, submitSecret } from "./support/navigation.ts";
import { png, webm } from "./support/samples.ts";
import { suite } from "./support/suite.ts";
import { chooseToUpload } from "./support/transfers.ts";
import { entry, file, openFolder, waitUntil } from "./support/uploads.ts";

const test = suite("Thumbnails");

/** Bytes of a thumbnail, on average: 500 of them have less than 10 MB. */
const MAX_AVERAGE = 20_000;

/** What a page loads and stores of files. */
interface Traffic {
  originals: string[];
  thumbnails: string[];
  stored: string[];
}

function recordTraffic(page: Page): Traffic {
  const traffic: Traffic = { originals: [], thumbnails: [], stored: [] };
  page.on("request", (request: Request) => {
    const { pathname, searchParams } = new URL(request.url());
    const name = searchParams.get("name") ?? "";
    if (pathname.endsWith("/files/download") || pathname.startsWith("/dashboard/download/")) {
      traffic.originals.push(name);
    }
    if (!pathname.endsWith("/files/thumbnail")) return;
    (request.method() === "PUT" ? traffic.stored : traffic.thumbnails).push(name);
  });
  return traffic;
}

/** The names of the files that have a thumbnail on the server. */
async function thumbnailsOf(drive: Drive): Promise<string[]> {
  return (await drive.details()).filter(({ thumbnail }) => thumbnail).map(({ name }) => name);
}

async function waitForPictures(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    (count) => document.querySelectorAll(".picture img").length === count,
    count,
  );
}

/** Another browser that signs in with a key and opens the drive. */
async function visit(fixture: Fixture, key: string): Promise<[Page, Traffic]> {
  const context = await fixture.context.browser()?.newContext();
  assert(context !== undefined);
  const page = await context.newPage();
  const traffic = recordTraffic(page);
  await page.goto(fixture.server.origin);
  await submitSecret(page, key);
  await page.getByRole("button", { name: "Sign in" }).waitFor({ state: "detached" });
  await openFolder(Object.assign(Object.create(fixture), { page }), "photos");
  await entry(page, "a.png").waitFor();
  return [page, traffic];
}

async function readerKey({ project }: Fixture): Promise<string> {
  return (await project.makeKey({ permissions: ["read", "list"] })).project_key;
}

test("The first visitor who may write stores them, and the next one loads nothing else", async (fixture) => {
  const { page, project } = fixture;
  const photos = project.drive("photos");
  await signInAsOwner(fixture);
  const image = await png(page, 1600);
  const names = ["a.png", "b.png", "c.png"];
  for (const name of names) await photos.put(name, image);
  const first = recordTraffic(page);
  await openFolder(fixture, "photos");
  await waitForPictures(page, 3);
  await waitUntil(async () => (await thumbnailsOf(photos)).length === 3, "thumbnails");
  assertEquals(first.originals.sort(), names);
  assertEquals(first.stored.sort(), names);
  assertEquals(first.thumbnails, []);

  for (const key of [await readerKey(fixture), project.key]) {
    const [other, traffic] = await visit(fixture, key);
    await waitForPictures(other, 3);
    assertEquals(traffic.originals, []);
    assertEquals(traffic.stored, []);
    assertEquals(traffic.thumbnails.sort(), names);
    const decoded = await other.locator(".picture img").first().evaluate(
      (image: HTMLImageElement) => image.decode().then(() => image.naturalWidth),
    );
    assertEquals(decoded, 320);
    await other.context().close();
  }
  for (const name of names) {
    const answer = await photos.send("GET", `/files/thumbnail?name=${name}`);
    assertLess(answer.expect(200).bytes.length, MAX_AVERAGE);
  }
});

test("A visitor who may not write makes none", async (fixture) => {
  const { page, project } = fixture;
  const photos = project.drive("photos");
  await page.goto(fixture.server.origin);
  await photos.put("a.png", await png(page));
  const [other, traffic] = await visit(fixture, await readerKey(fixture));
  await other.waitForTimeout(500);
  assertEquals(traffic, { originals: [], thumbnails: [], stored: [] });
  assertEquals(await thumbnailsOf(photos), []);
  await other.context().close();
});

test("Images and videos get one when they are uploaded, other files do not", async (fixture) => {
  const { page, project } = fixture;
  const photos = project.drive("photos");
  await signInAsOwner(fixture);
  const [image, video] = [await png(page, 1600), await webm(page)];
  await photos.put("first.txt", "text");
  await openFolder(fixture, "photos");
  const traffic = recordTraffic(page);
  await chooseToUpload(page, "Files", [
    file("a.png", image, "image/png"),
    file("clip.webm", video, "video/webm"),
    file("broken.png", image.slice(0, 20), "image/png"),
    file("notes.txt", image.slice(0, 100), "text/plain"),
  ]);
  for (const name of ["a.png", "clip.webm", "broken.png", "notes.txt"]) {
    await entry(page, name).waitFor();
  }
  // A list that is read meanwhile has files whose thumbnails come at the end of their uploads.
  await waitUntil(async () => (await thumbnailsOf(photos)).length >= 2, "two thumbnails");
  assertEquals((await thumbnailsOf(photos)).sort(), ["a.png", "clip.webm"]);
  await waitForPictures(page, 2);
  assertEquals(traffic.thumbnails.sort(), ["a.png", "clip.webm"]);
  assertEquals(traffic.originals.filter((name) => name !== "broken.png"), []);
});
