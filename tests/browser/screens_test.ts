import {
  dialog,
  enter,
  openSection,
  row,
  secretField,
  signInAsAdministrator,
  signInAsOwner,
} from "./support/desk.ts";
import type { Scene } from "./support/scene.ts";
import { inspect } from "./support/screens.ts";
import { stories } from "./support/stories.ts";

import { fillProject } from "./support/sample_project.ts";

const story = stories("Every screen, wide and narrow, light and dark");

async function openApplication(scene: Scene, prepare: () => Promise<unknown>): Promise<void> {
  const upstream = "http://127.0.0.1:3000";
  await scene.project.makeApp({
    name: "viewer",
    upstream,
    host: `${scene.project.id}.example.com`,
  });
  await prepare();
  await signInAsAdministrator(scene);
  await scene.page.goto(`${scene.server.origin}/#/p/${scene.project.id}/apps/viewer`);
  await scene.page.getByRole("switch").waitFor();
}

story("Sign-in", async ({ page, server, watch }) => {
  watch.expect(/status of 401/);
  await page.goto(server.origin);
  await secretField(page).waitFor();
  await inspect(page, "sign-in");
  await enter(page, "wrong");
  await page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
  await inspect(page, "sign-in-refused");
});

story("Projects", async (scene) => {
  const { page, project } = scene;
  await fillProject(scene);
  await signInAsAdministrator(scene);
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

story("Keys and usage", async (scene) => {
  const { page } = scene;
  await fillProject(scene);
  await signInAsOwner(scene);
  await row(page, "photos").waitFor();
  await inspect(page, "project");
  await page.getByRole("button", { name: /^Revoke key/ }).first().click();
  await inspect(page, "project-revoke");
});

story("Applications", async (scene) => {
  const { page, project } = scene;
  await signInAsAdministrator(scene);
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

story("An application", async (scene) => {
  const { page, project } = scene;
  await openApplication(scene, async () => {
    const body = { enabled: true };
    await project.call("PUT", "/apps/viewer/access", { body });
    const description =
      "Copies everything every night, and tells whoever is on duty when it could not.";
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

story("An application that is open to everybody", async (scene) => {
  const { page } = scene;
  await openApplication(scene, () => Promise.resolve());
  await page.getByText("No keys yet").waitFor();
  await inspect(page, "application-open");
  await page.getByRole("button", { name: "Change upstream and host" }).click();
  await inspect(page, "application-change");
});

story("Connect", async (scene) => {
  const { page } = scene;
  await signInAsOwner(scene);
  await openSection(page, "Connect");
  await page.getByRole("button", { name: /Show my key/ }).click();
  await inspect(page, "connect");
});

story("A view that could not be loaded", async (scene) => {
  const { page, watch } = scene;
  watch.expect(/ERR_FAILED/);
  await signInAsOwner(scene);
  await row(page, /signed in with it/).waitFor();
  await page.route("**/views/connect.js", (route) => route.abort());
  await page.getByRole("link", { name: "Connect" }).click();
  await page.getByRole("heading", { name: "This page could not be loaded" }).waitFor();
  await page.getByText("The server cannot be reached").waitFor();
  await inspect(page, "not-loaded");
  await page.unroute("**/views/connect.js");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Connect" }).waitFor();
});

story("What could not be shown, and a notice", async (scene) => {
  const { page, watch, project } = scene;
  watch.expect(/status of (404|503)/);
  await fillProject(scene);
  await signInAsOwner(scene);
  await row(page, "photos").waitFor();
  await page.getByRole("button", { name: "Delete drive photos" }).click();
  await page.getByRole("dialog").getByLabel(/to confirm/).fill("photos");
  await page.getByRole("dialog").getByRole("button", { name: "Delete drive" }).click();
  await page.getByText("The drive photos is deleted").waitFor();
  await inspect(page, "notice");
  await page.route(
    `**/admin/v1/projects/${project.id}/apps`,
    (route) => route.fulfill({ status: 503, json: { errors: ["The server is shutting down"] } }),
  );
  await page.getByRole("link", { name: "Applications" }).click();
  await page.getByText("The server is shutting down").waitFor();
  await inspect(page, "failed");
});
