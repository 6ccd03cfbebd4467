import { Buffer } from "node:buffer";
import type { Locator, Page } from "playwright-core";
import type { Drive } from "../../support/drive.ts";
import type { Scene } from "./scene.ts";

/** A file as a person chooses it; without a path it is on no disk. */
export interface Chosen {
  name: string;
  mimeType: string;
  /** The driver reads bytes as Node.js has them, and no others. */
  buffer: Buffer;
}

export function file(name: string, bytes: Uint8Array<ArrayBuffer>, mimeType = ""): Chosen {
  return { name, mimeType, buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/** Opens a folder of a drive, as somebody does who kept its address. */
export async function openFolder(
  { page, project }: Scene,
  drive: string,
  ...folders: string[]
): Promise<void> {
  const path = ["p", project.id, "files", drive, ...folders].map(encodeURIComponent).join("/");
  const slash = folders.length > 0 ? "/" : "";
  await page.evaluate((hash) => location.hash = hash, `#/${path}${slash}`);
  const last = folders.at(-1) ?? drive;
  const here = page.getByRole("navigation", { name: "Folders" }).locator("[aria-current=page]");
  await here.getByText(last === "" ? "(no name)" : last, { exact: true }).waitFor();
}

/** Presses a button that asks for files, and chooses some. Paths are files on the disk. */
export async function choose(
  page: Page,
  button: string,
  files: string | string[] | Chosen[],
): Promise<void> {
  const press = page.getByRole("button", { name: button }).first();
  const [asked] = await Promise.all([page.waitForEvent("filechooser"), press.click()]);
  await asked.setFiles(files);
}

/** Drops files and folders of the disk into the middle of the page. */
export async function drop({ page, context }: Scene, paths: string[]): Promise<void> {
  const devTools = await context.newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await devTools.send("Input.dispatchDragEvent", { type, x: 640, y: 300, data });
  }
  await devTools.detach();
}

/** The row of an upload of this tab. */
export function transfer(page: Page, name: string): Locator {
  return page.getByRole("list", { name: "Uploads of this tab" }).getByRole("listitem")
    .filter({ has: page.getByRole("progressbar", { name: `Progress of ${name}`, exact: true }) });
}

/** The row of a file or folder in the list. */
export function entry(page: Page, name: string): Locator {
  return page.getByRole("grid").getByRole("row")
    .filter({ has: page.getByRole("checkbox", { name: `Select ${name}`, exact: true }) });
}

/** The parts that left the page, by their numbers, in the order in which they were begun. */
export function notePartsOf(page: Page): number[] {
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

/** The uploads in parts that are open on the server. */
export async function openUploads(drive: Drive): Promise<OpenUpload[]> {
  const body = (await drive.send("GET", "/uploads")).expect(200).json;
  return (body as { uploads: OpenUpload[] }).uploads;
}

/** Asks until something holds: for what the server does and no page shows. */
export async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 10_000;
  while (!await holds()) {
    if (performance.now() > end) throw new Error(`Never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
