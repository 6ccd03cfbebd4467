import type { Locator, Page, Route } from "playwright-core";
import { patternBytes } from "../../support/bytes.ts";
import { submitSecret } from "./navigation.ts";
import type { Fixture } from "./fixture.ts";
import { type Chosen, entry, openFolder } from "./uploads.ts";

/** A file of three parts. */
export const FILM = "film.bin";
export const FILM_BYTES = patternBytes(25_000_000);

/** Signs in and opens a drive with one small file. */
export async function openPhotos(
  fixture: Fixture,
  { key = fixture.project.key, origin = fixture.server.origin } = {},
): Promise<void> {
  const { page, project } = fixture;
  await project.drive("photos").put("notes.txt", "about the photos");
  await page.goto(origin);
  await submitSecret(page, key);
  await page.getByRole("button", { name: "Sign in" }).waitFor({ state: "detached" });
  // The first view of the session would replace an address that is set before it.
  await page.waitForURL(/#\/p\//);
  await openFolder(fixture, "photos");
  await entry(page, "notes.txt").waitFor();
}

/** The card in the corner. */
export function card(page: Page): Locator {
  return page.getByRole("region", { name: "Uploads", exact: true });
}

/** The row of an upload of this tab, with the last segment of its name. */
export function uploadRow(page: Page, label: string): Locator {
  return page.getByRole("list", { name: "Uploads of this tab" }).getByRole("listitem")
    .filter({ has: page.getByRole("link", { name: label, exact: true }) });
}

/** Uploads with the button of the folder. Strings are paths on the disk. */
export async function chooseToUpload(
  page: Page,
  what: "Files" | "Folder",
  files: string | string[] | Chosen[],
): Promise<void> {
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  const opener = page.getByRole("menuitem", { name: what });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), opener.click()]);
  await chooser.setFiles(files);
}

/** Drags files and folders of the disk over a place of the page. */
export async function drag(
  { page, context }: Fixture,
  paths: string[],
  { types, x = 640, y = 300 }: { types: readonly DragType[]; x?: number; y?: number },
): Promise<void> {
  const devTools = await context.newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of types) {
    await devTools.send("Input.dispatchDragEvent", { type, x, y, data });
  }
  await devTools.detach();
}

type DragType = "dragEnter" | "dragOver" | "drop";

/** Drops files and folders of the disk onto the page. @param at Where; by default in the middle. */
export async function drop(
  fixture: Fixture,
  paths: string[],
  at: { x?: number; y?: number } = {},
): Promise<void> {
  await drag(fixture, paths, { ...at, types: ["dragEnter", "dragOver", "drop"] });
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

/** A part that does not reach the server. */
export interface HeldPart {
  /** Lets later requests pass. */
  release(): Promise<void>;
  /** Aborts the held request and later ones. Without it the browser can send a held request when its page is closed. */
  abort(): Promise<void>;
}
