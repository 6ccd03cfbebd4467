import type { Locator } from "playwright-core";
import type { Fixture } from "./fixture.ts";
import { dialog, signInAsOwner } from "./navigation.ts";
import { entry, openFolder } from "./uploads.ts";

/** The drive of the tests of previews. */
export const DRIVE = "things";

/** Opens the preview of a file in the open folder. */
export async function open({ page }: Fixture, name: string): Promise<Locator> {
  await entry(page, name).dblclick();
  const shown = dialog(page, name);
  await shown.waitFor();
  return shown;
}

/** Stores a file, and opens its preview. */
export async function show(
  fixture: Fixture,
  name: string,
  content: Uint8Array<ArrayBuffer> | string,
  type?: string,
): Promise<Locator> {
  const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
  await fixture.project.drive(DRIVE).put(name, content, headers);
  await signInAsOwner(fixture);
  await openFolder(fixture, DRIVE);
  return await open(fixture, name);
}

/** The text that a preview shows. */
export async function contentOf(shown: Locator): Promise<string> {
  const content = shown.getByRole("region", { name: "Content" });
  await content.waitFor();
  return await content.evaluate((element) => element.textContent ?? "");
}
