import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { assertSameBytes, patternBytes } from "../../support/bytes.ts";
import type { Folder } from "../../support/command.ts";
import { signInAsOwner } from "./desk.ts";
import type { Scene } from "./scene.ts";
import { choose, entry, openFolder, openUploads } from "./uploads.ts";

/** Large enough for three parts. */
const SIZE = 25_000_000;

/** The name of the film. */
export const FILM = "film.bin";

/** What is in it. */
export const bytes = patternBytes(SIZE);

/** Chooses the film, which lies on a disk, as films do. */
export async function chooseFilm(page: Page, folder: Folder): Promise<void> {
  await choose(page, "Upload files", await folder.write(FILM, bytes));
}

/** Signs in over a line, and opens a drive that has one file. */
export async function openFilms(scene: Scene, origin?: string): Promise<void> {
  await scene.project.drive("films").put("notes.txt", "of the films");
  await signInAsOwner(scene, origin);
  await openFolder(scene, "films");
  await entry(scene.page, "notes.txt").waitFor();
}

/** Fails unless the whole film is there, and no upload is left. */
export async function assertArrived({ project }: Scene): Promise<void> {
  const drive = project.drive("films");
  assertSameBytes((await drive.get(FILM)).expect(200).bytes, bytes);
  assertEquals(await openUploads(drive), []);
}

/** Lets the browser send so many bytes a second: a slow line in between would have buffers that hide how slow it is. */
export async function slowDown({ page, context }: Scene, uploadThroughput: number): Promise<void> {
  const devTools = await context.newCDPSession(page);
  await devTools.send("Network.enable");
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
  await devTools.send("Network.emulateNetworkConditions", conditions);
}
