import type { Locator, Page } from "playwright-core";
import { ADMIN_TOKEN } from "../../support/admin.ts";
import type { Scene } from "./scene.ts";

/** The one field of the sign-in. */
export function secretField(page: Page): Locator {
  return page.getByLabel("Administrator’s token or project key");
}

/** Types a secret into the sign-in as it stands, and sends it. */
export async function enter(page: Page, secret: string): Promise<void> {
  await secretField(page).fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens the dashboard and signs in with the project's key. */
export async function signInAsOwner(scene: Scene, origin = scene.server.origin): Promise<void> {
  await signIn(scene.page, origin, scene.project.key);
}

/** Opens the dashboard and signs in with the administrator's token. */
export async function signInAsAdministrator(scene: Scene): Promise<void> {
  await signIn(scene.page, scene.server.origin, ADMIN_TOKEN);
}

async function signIn(page: Page, origin: string, secret: string): Promise<void> {
  await page.goto(origin);
  await enter(page, secret);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

const HEADINGS = {
  "Files": "Drives",
  "Uploads": "Uploads in progress",
  "Applications": "Applications",
  "Keys & usage": "Keys & usage",
  "Connect": "Connect",
};

/** Opens a section of the project, and waits for its heading. */
export async function openSection(page: Page, name: keyof typeof HEADINGS): Promise<void> {
  const link = page.getByRole("navigation", { name: "Project" }).getByRole("link", { name });
  await link.click();
  await page.getByRole("heading", { level: 1, name: HEADINGS[name] }).waitFor();
}

/** The dialog that is open. */
export function dialog(page: Page, name: string | RegExp): Locator {
  return page.getByRole("dialog", { name });
}

/** The row of a table that begins with a heading of this name. */
export function row(page: Page, name: string | RegExp): Locator {
  return page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
}
