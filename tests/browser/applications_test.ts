import { assert, assertEquals } from "@std/assert";
import { withKey } from "../support/admin.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { dialog, openSection, row, signInAsAdministrator, signInAsOwner } from "./support/desk.ts";
import type { Scene } from "./support/scene.ts";
import { stories } from "./support/stories.ts";

const story = stories("Applications");

/** Makes an application with the dialog; it is shown then. */
async function makeApplication({ page, project }: Scene, upstream: string): Promise<void> {
  await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
  await openSection(page, "Applications");
  await page.getByRole("button", { name: "New application" }).click();
  const asked = dialog(page, "New application");
  await asked.getByRole("button", { name: "Create application" }).click();
  await asked.getByRole("alert").filter({ hasText: "Name" }).waitFor();
  await asked.getByLabel("Name", { exact: true }).fill("viewer");
  await asked.getByLabel("Upstream").fill(upstream);
  await asked.getByRole("button", { name: "Create application" }).click();
  await page.getByRole("heading", { level: 1, name: "viewer" }).waitFor();
}

/** What a caller with a key gets from the application. */
async function call({ gate, project }: Scene, key?: string): Promise<number> {
  const headers = key === undefined ? {} : withKey(key);
  const response = await fetch(`${gate.origin}/${project.id}/viewer/page`, { headers });
  await response.body?.cancel();
  return response.status;
}

/** Makes a key with the dialogs; gives it as it was copied. */
async function makeKey(scene: Scene): Promise<string> {
  const { page, watch } = scene;
  await page.getByRole("button", { name: "New key" }).click();
  const asked = dialog(page, "New key of viewer");
  await asked.getByLabel("Name", { exact: true }).fill("nightly run");
  await asked.getByLabel("Description").fill("copies everything");
  await asked.getByRole("button", { name: "Create key" }).click();
  const shown = dialog(page, "The key “nightly run” was created");
  const key = await shown.getByLabel(/API key/).inputValue();
  watch.keepSecret(key);
  await shown.getByRole("button", { name: /^Copy/ }).click();
  await shown.getByText("Copied", { exact: true }).waitFor();
  assertEquals(await scene.clipboard(), key);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  return key;
}

story("An application is kept by a switch, and open to everybody again.", async (scene) => {
  const { page } = scene;
  await using upstream = new UpstreamApp();
  await signInAsAdministrator(scene);
  await makeApplication(scene, upstream.origin);
  await page.getByText("Keys can be created while access control is on.").waitFor();
  assertEquals(await page.getByRole("button", { name: "New key" }).isDisabled(), true);
  assertEquals(await call(scene), 200);
  await page.getByRole("switch", { name: "Access control", checked: false }).click();
  const on = page.getByRole("switch", { name: "Access control", checked: true });
  await on.waitFor();
  assertEquals(await call(scene), 401);
  await on.click();
  await dialog(page, /Open viewer to everyone/).getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("switch", { name: "Access control", checked: false }).waitFor();
  assertEquals(await call(scene), 200);
});

story("A key of an application is shown once, opens it, and is revoked.", async (scene) => {
  const { page } = scene;
  await using upstream = new UpstreamApp();
  await signInAsAdministrator(scene);
  await makeApplication(scene, upstream.origin);
  await page.getByRole("switch", { name: "Access control" }).click();
  await page.getByRole("switch", { name: "Access control", checked: true }).waitFor();
  const key = await makeKey(scene);
  assertEquals(await call(scene, key), 200);
  await page.reload();
  await row(page, /nightly run/).getByText(`${key.slice(0, 8)}.…`).waitFor();
  assertEquals((await page.content()).includes(key), false);
  await page.getByRole("button", { name: "Revoke key nightly run" }).click();
  await dialog(page, /Revoke the key/).getByRole("button", { name: "Revoke key" }).click();
  await row(page, /nightly run/).waitFor({ state: "detached" });
  assertEquals(await call(scene, key), 401);
});

story("A link opens the application in a tab of its own, and tells it nothing.", async (scene) => {
  const { page, context, project, gate, watch } = scene;
  watch.expect(/favicon/);
  await using upstream = new UpstreamApp();
  await signInAsAdministrator(scene);
  await makeApplication(scene, upstream.origin);
  const address = `http://127.0.0.1:${gate.port}/${project.id}/viewer/`;
  const link = page.getByRole("link", { name: address });
  assertEquals(await link.getAttribute("href"), address);
  const [opened] = await Promise.all([context.waitForEvent("page"), link.click()]);
  await opened.waitForLoadState();
  const seen = await opened.locator("body").innerText();
  assert(seen.includes('"method":"GET"'), seen);
  assert(!/referer/i.test(seen), seen);
  assertEquals(await opened.evaluate(() => globalThis.opener), null);
  await opened.close();
  await openSection(page, "Applications");
  await row(page, "viewer").getByText("everyone").waitFor();
  await row(page, "viewer").getByRole("link", { name: /^Open viewer/ }).waitFor();
});

story(
  "The owner of a project makes an application, and the administrator says where it runs.",
  async (scene) => {
    const { page, project } = scene;
    await signInAsOwner(scene);
    await openSection(page, "Applications");
    await page.getByRole("button", { name: "New application" }).click();
    const first = dialog(page, "New application");
    // Host names are the administrator's to give.
    assertEquals(await first.getByLabel(/Upstream|Host name/).count(), 0);
    await first.getByLabel("Name", { exact: true }).fill("blog");
    await first.getByRole("button", { name: "Create application" }).click();
    await page.getByText("The same holds for the host name.").waitFor();
    assertEquals(await page.getByRole("button", { name: "Change host" }).count(), 0);
    (await project.call("PATCH", "", { body: { host_suffix: "example.com" } })).expect(200);
    await openSection(page, "Applications");
    await page.getByRole("button", { name: "New application" }).click();
    const asked = dialog(page, "New application");
    assertEquals(await asked.getByLabel("Upstream").count(), 0);
    await asked.getByLabel("Name", { exact: true }).fill("notes");
    await asked.getByLabel("Host name").fill("notes.example.com");
    await asked.getByRole("button", { name: "Create application" }).click();
    await page.getByText("none yet: the gate has nothing to forward to").waitFor();
    await page.getByRole("button", { name: "Change host" }).click();
    await dialog(page, "Addresses of notes").getByLabel("Host name").fill("");
    await dialog(page, "Addresses of notes").getByRole("button", { name: "Save" }).click();
    await page.getByText("callers use its path").waitFor();
  },
);

story(
  "Upstream and host are changed, refused with a sentence, and the application deleted.",
  async (scene) => {
    const { page, watch, project } = scene;
    watch.expect(/status of 400/);
    await signInAsAdministrator(scene);
    await makeApplication(scene, "http://127.0.0.1:9");
    await page.getByRole("button", { name: "Change upstream and host" }).click();
    const asked = dialog(page, "Addresses of viewer");
    await asked.getByLabel("Upstream").fill("nowhere");
    await asked.getByRole("button", { name: "Save" }).click();
    await asked.getByRole("alert").filter({ hasText: "upstream" }).waitFor();
    await asked.getByLabel("Upstream").fill("http://127.0.0.1:3000");
    await asked.getByRole("button", { name: "Save" }).click();
    await page.getByRole("definition").getByText("http://127.0.0.1:3000").waitFor();
    await page.getByRole("button", { name: "Delete application" }).click();
    const question = dialog(page, "Delete application viewer?");
    await question.getByLabel(/to confirm/).fill("viewer");
    await question.getByRole("button", { name: "Delete application" }).click();
    await page.getByText("No applications yet").waitFor();
    assertEquals((await project.call("GET", "/apps/viewer")).status, 404);
  },
);
