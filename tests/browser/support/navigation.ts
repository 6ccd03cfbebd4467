import type { Locator, Page } from "playwright-core";
import { ADMIN_TOKEN } from "../../support/admin.ts";
import type { Fixture } from "./fixture.ts";

/** The field of the sign-in form. */
export function secretField(page: Page): Locator {
  return page.getByLabel("Administrator’s token or project key");
}

/** Submits the sign-in form with a secret. */
export async function submitSecret(page: Page, secret: string): Promise<void> {
  await secretField(page).fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens the dashboard and signs in with the project key. */
export async function signInAsOwner(
  fixture: Fixture,
  origin = fixture.server.origin,
): Promise<void> {
  await signIn(fixture.page, origin, fixture.project.key);
}

/** Opens the dashboard and signs in with the administrator's token. */
export async function signInAsAdministrator(fixture: Fixture): Promise<void> {
  await signIn(fixture.page, fixture.server.origin, ADMIN_TOKEN);
}

async function signIn(page: Page, origin: string, secret: string): Promise<void> {
  await page.goto(origin);
  await submitSecret(page, secret);
  await page.getByRole("button", { name: "Sign in" }).waitFor({ state: "detached" });
}

/** The sections of a project, as the navigation names them. */
export type SectionName =
  | "Files"
  | "Links"
  | "Uploads"
  | "Trash"
  | "Applications"
  | "Keys"
  | "Webhooks"
  | "Usage"
  | "Activity"
  | "Settings"
  | "Connect";

/** Opens a section of the project with the navigation at the side, and waits for its heading. */
export async function openSection(page: Page, name: SectionName): Promise<void> {
  const link = page.getByRole("navigation", { name: "Project" }).getByRole("link", { name });
  await link.click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

/** Waits until no part of the page is loading. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
}

/** The open dialog with this title. */
export function dialog(page: Page, name: string | RegExp): Locator {
  return page.getByRole("dialog", { name });
}

/** The table row with this row header. */
export function row(page: Page, name: string | RegExp): Locator {
  return page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
}
