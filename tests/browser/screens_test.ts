import {
  dialog,
  openSection,
  row,
  secretField,
  signInAsAdministrator,
  signInAsOwner,
  submitSecret,
} from "./support/navigation.ts";
import type { Fixture } from "./support/fixture.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";

import { fillProject } from "./support/sample_project.ts";

const test = suite("Every other screen in desktop and phone size, light and dark");

async function openApplication(fixture: Fixture, prepare: () => Promise<unknown>): Promise<void> {
  const upstream = "http://127.0.0.1:3000";
  await fixture.project.makeApp({
    name: "viewer",
    upstream,
    host: `${fixture.project.id}.example.com`,
  });
  await prepare();
  await signInAsAdministrator(fixture);
  await fixture.page.goto(`${fixture.server.origin}/#/p/${fixture.project.id}/apps/viewer`);
  await fixture.page.getByRole("switch").waitFor();
}

test("Sign-in", async ({ page, server, observer }) => {
  observer.allow(/status of 401/);
  await page.goto(server.origin);
  await secretField(page).waitFor();
  await inspect(page, "sign-in");
  await submitSecret(page, "wrong");
  await page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
  await inspect(page, "sign-in-refused");
});

test("Projects", async (fixture) => {
  const { page, project } = fixture;
  await fillProject(fixture);
  await signInAsAdministrator(fixture);
  await row(page, project.id).waitFor();
  await inspect(page, "projects");
  await page.getByRole("button", { name: `Delete project ${project.id}` }).click();
  await inspect(page, "project-delete");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "New project" }).click();
  await inspect(page, "project-new");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByText(/This is shown once/).waitFor();
  await inspect(page, "project-key");
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByText("No drives yet").waitFor();
  await inspect(page, "project-empty");
});

test("Keys and usage", async (fixture) => {
  const { page } = fixture;
  await fillProject(fixture);
  await signInAsOwner(fixture);
  await row(page, "photos").waitFor();
  await inspect(page, "project");
  await page.getByRole("button", { name: /^Revoke key/ }).first().click();
  await inspect(page, "project-revoke");
});

test("Applications", async (fixture) => {
  const { page, project } = fixture;
  await signInAsAdministrator(fixture);
  await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
  await openSection(page, "Applications");
  await page.getByText("No applications yet").waitFor();
  await inspect(page, "applications-empty");
  await page.getByRole("button", { name: "New application" }).click();
  await inspect(page, "application-new");
  await project.makeApp({ name: "notes", upstream: "http://127.0.0.1:3001" });
  const path = await project.makeProtectedApp("viewer-of-many-pictures");
  await project.call("PATCH", path, {
    body: { host: "viewer-of-many-pictures.intranet.example.com" },
  });
  await page.reload();
  await row(page, "notes").waitFor();
  await inspect(page, "applications");
});

test("An application", async (fixture) => {
  const { page, project } = fixture;
  await openApplication(fixture, async () => {
    const body = { enabled: true };
    await project.call("PUT", "/apps/viewer/access", { body });
    const description =
      "Copies all files every night, and sends a message to the person on duty after a failure.";
    await project.makeAppKey("/apps/viewer", { name: "nightly run", description });
  });
  await row(page, /nightly run/).waitFor();
  await inspect(page, "application");
  await page.getByRole("button", { name: "New key" }).click();
  await dialog(page, /New key/).getByLabel("Name", { exact: true }).fill("ci");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText(/This is shown once/).waitFor();
  await inspect(page, "application-key");
});

test("An application that is open to everyone", async (fixture) => {
  const { page } = fixture;
  await openApplication(fixture, () => Promise.resolve());
  await page.getByText("No keys yet").waitFor();
  await inspect(page, "application-open");
  await page.getByRole("button", { name: "Change upstream and host" }).click();
  await inspect(page, "application-change");
});

test("Connect", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await openSection(page, "Connect");
  await page.getByRole("button", { name: /Show my key/ }).click();
  await inspect(page, "connect");
});

test("A view whose calls do not reach the server", async (fixture) => {
  const { page, observer } = fixture;
  observer.allow(/ERR_FAILED/);
  await signInAsOwner(fixture);
  await row(page, /signed in with it/).waitFor();
  await page.route("**/apps", (route) => route.abort());
  await page.getByRole("link", { name: "Applications" }).click();
  await page.getByRole("alert").getByText("The server cannot be reached").waitFor();
  await inspect(page, "not-loaded");
  await page.unroute("**/apps");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No applications yet").waitFor();
});

test("A failed view, and a notice", async (fixture) => {
  const { page, observer, project } = fixture;
  observer.allow(/status of (404|503)/);
  await fillProject(fixture);
  await signInAsOwner(fixture);
  await row(page, "photos").waitFor();
  await page.getByRole("button", { name: "Delete drive photos" }).click();
  await page.getByRole("dialog").getByLabel(/to confirm/).fill("photos");
  await Promise.all([
    page.getByText("The drive photos is deleted").waitFor(),
    page.getByRole("dialog").getByRole("button", { name: "Delete drive" }).click(),
  ]);
  await inspect(page, "notice");
  await page.route(
    `**/admin/v1/projects/${project.id}/apps`,
    (route) => route.fulfill({ status: 503, json: { errors: ["The server is shutting down"] } }),
  );
  await page.getByRole("link", { name: "Applications" }).click();
  await page.getByText("The server is shutting down").waitFor();
  await inspect(page, "failed");
});
