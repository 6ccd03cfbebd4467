import { assertEquals } from "@std/assert";
import type { Page, Route } from "playwright-core";
import { assertSameBytes, patternBytes } from "../../support/bytes.ts";
import type { Folder } from "../../support/command.ts";
import { signInAsOwner } from "./navigation.ts";
import type { Fixture } from "./fixture.ts";
import { choose, entry, openFolder, openUploads } from "./uploads.ts";

/** Size of three parts, in bytes. */
const SIZE = 25_000_000;

export const FILM = "film.bin";

export const FILM_BYTES = patternBytes(SIZE);

/** Chooses the film from the disk. */
export async function chooseFilm(page: Page, folder: Folder): Promise<void> {
  await choose(page, "Upload files", await folder.write(FILM, FILM_BYTES));
}

/** Signs in and opens a drive with one small file. */
export async function openFilmsDrive(fixture: Fixture, origin?: string): Promise<void> {
  await fixture.project.drive("films").put("notes.txt", "about the films");
  await signInAsOwner(fixture, origin);
  await openFolder(fixture, "films");
  await entry(fixture.page, "notes.txt").waitFor();
}

/** Fails unless the whole film is stored and no upload is open. */
export async function assertUploaded({ project }: Fixture): Promise<void> {
  const drive = project.drive("films");
  assertSameBytes((await drive.get(FILM)).expect(200).bytes, FILM_BYTES);
  assertEquals(await openUploads(drive), []);
}

/**
 * Limits the bytes that the browser sends in a second. The buffers of a slow proxy would hide its speed from the page.
 */
export async function throttleUpload(
  { page, context }: Fixture,
  uploadThroughput: number,
): Promise<void> {
  const devTools = await context.newCDPSession(page);
  await devTools.send("Network.enable");
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
  await devTools.send("Network.emulateNetworkConditions", conditions);
}

/** Holds all requests for a part, so that the upload stays in progress. */
export async function holdPart(page: Page, part: number): Promise<HeldPart> {
  const url = `**/parts?*part=${part}*`;
  const held: Route[] = [];
  let isAborted = false;
  await page.route(url, async (route) => {
    if (isAborted) await route.abort();
    else held.push(route);
  });
  return {
    release: () => page.unroute(url),
    async abort() {
      isAborted = true;
      for (const route of held) await route.abort();
    },
  };
}

export interface HeldPart {
  /** Lets later requests pass. */
  release(): Promise<void>;
  /** Aborts the held request and later ones. Without it the browser can send a held request when its page is closed. */
  abort(): Promise<void>;
}
