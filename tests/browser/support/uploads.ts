import { Buffer } from "node:buffer";
import type { Locator, Page } from "playwright-core";
import type { Drive } from "../../support/drive.ts";
import { type Fixture, HANG_GUARD } from "./fixture.ts";

/** A chosen file that exists in memory only. */
export interface Chosen {
  name: string;
  mimeType: string;
  /** Playwright accepts only the buffers of Node.js. */
  buffer: Buffer;
}

export function file(name: string, bytes: Uint8Array<ArrayBuffer>, mimeType = ""): Chosen {
  return { name, mimeType, buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** Opens a folder of a drive by its URL. */
export async function openFolder(
  { page, project }: Fixture,
  drive: string,
  ...folders: string[]
): Promise<void> {
  const path = ["p", project.id, "files", drive, ...folders, ""].map(encodeURIComponent).join("/");
  await page.evaluate((hash) => location.hash = hash, `#/${path}`);
  const current = page.getByRole("navigation", { name: "Folders" }).locator("[aria-current=page]");
  await current.getByText(folders.at(-1) ?? drive, { exact: true }).waitFor();
}

/** Clicks a button that opens a file chooser, and chooses files. Strings are paths on the disk. */
export async function choose(
  page: Page,
  button: string,
  files: string | string[] | Chosen[],
): Promise<void> {
  const opener = page.getByRole("button", { name: button }).first();
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), opener.click()]);
  await chooser.setFiles(files);
}

/** Drops files and folders from the disk onto the page. */
export async function drop({ page, context }: Fixture, paths: string[]): Promise<void> {
  const devTools = await context.newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await devTools.send("Input.dispatchDragEvent", { type, x: 640, y: 300, data });
  }
  await devTools.detach();
}

/** The file or folder of this name in the open folder: a row of the list, or a tile of the grid. */
export function entry(page: Page, name: string): Locator {
  return page.getByRole("grid").getByRole("row", { name, exact: true });
}

/** The names of the entries that are rendered, in order. One call, as a row may get another name between two. */
export async function labels(page: Page): Promise<(string | null)[]> {
  return await page.evaluate(() => {
    const rows = document.querySelectorAll("[role=grid] [role=row][data-index]");
    return [...rows].map((row) => row.getAttribute("aria-label"));
  });
}

/** Records the numbers of the parts that the page sends from now on, in order. */
export function recordParts(page: Page): number[] {
  const parts: number[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith("/parts")) parts.push(Number(url.searchParams.get("part")));
  });
  return parts;
}

export interface OpenUpload {
  upload_id: string;
  name: string;
}

/** The open uploads on the server. */
export async function openUploads(drive: Drive): Promise<OpenUpload[]> {
  const body = (await drive.send("GET", "/uploads")).expect(200).json;
  return (body as { uploads: OpenUpload[] }).uploads;
}

/** Polls a condition that no page shows, such as a state of the server. */
export async function waitUntil(holds: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + HANG_GUARD;
  while (!await holds()) {
    if (performance.now() > end) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
