import { assert, assertEquals } from "@std/assert";
import { withKey } from "../support/admin.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import {
  dialog,
  openSection,
  row,
  signInAsAdministrator,
  signInAsOwner,
} from "./support/navigation.ts";
import type { Fixture } from "./support/fixture.ts";
import { suite } from "./support/suite.ts";

const test = suite("Applications");

/** Creates an application in the dialog, which then opens it. */
async function createApplication({ page, project }: Fixture, upstream: string): Promise<void> {
  await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
  await openSection(page, "Applications");
  await page.getByRole("button", { name: "New application" }).click();
  const form = dialog(page, "New application");
  await form.getByRole("button", { name: "Create application" }).click();
  await form.getByRole("alert").filter({ hasText: "Name" }).waitFor();
  await form.getByLabel("Name", { exact: true }).fill("viewer");
  await form.getByLabel("Upstream").fill(upstream);
  await form.getByRole("button", { name: "Create application" }).click();
  await page.getByRole("heading", { level: 1, name: "viewer" }).waitFor();
}

/** The status of a request to the application. */
async function statusOf({ gate, project }: Fixture, key?: string): Promise<number> {
  const headers = key === undefined ? {} : withKey(key);
  const response = await fetch(`${gate.origin}/${project.id}/viewer/page`, { headers });
  await response.body?.cancel();
  return response.status;
}

/** Creates a key in the dialogs and returns the copied key. */
async function createKey(fixture: Fixture): Promise<string> {
  const { page, observer } = fixture;
  await page.getByRole("button", { name: "New key" }).click();
  const form = dialog(page, "New key of viewer");
  await form.getByLabel("Name", { exact: true }).fill("nightly run");
  await form.getByLabel("Description").fill("copies everything");
  await form.getByRole("button", { name: "Create key" }).click();
  const shown = dialog(page, "The key “nightly run” was created");
  const key = await shown.getByLabel(/API key/).inputValue();
  observer.registerSecret(key);
  await shown.getByRole("button", { name: /^Copy/ }).click();
  await shown.getByText("Copied", { exact: true }).waitFor();
  assertEquals(await fixture.clipboard(), key);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  return key;
}

test("A switch turns access control on and off", async (fixture) => {
  const { page } = fixture;
  await using upstream = new UpstreamApp();
  await signInAsAdministrator(fixture);
  await createApplication(fixture, upstream.origin);
  await page.getByText("Keys can be created while access control is on.").waitFor();
  assertEquals(await page.getByRole("button", { name: "New key" }).isDisabled(), true);
  assertEquals(await statusOf(fixture), 200);
  await page.getByRole("switch", { name: "Access control", checked: false }).click();
  const on = page.getByRole("switch", { name: "Access control", checked: true });
  await on.waitFor();
  assertEquals(await statusOf(fixture), 401);
  await on.click();
  await dialog(page, /Open viewer to everyone/).getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("switch", { name: "Access control", checked: false }).waitFor();
  assertEquals(await statusOf(fixture), 200);
});

test("A key of an application is shown once, gives access, and can be revoked", async (fixture) => {
  const { page } = fixture;
  await using upstream = new UpstreamApp();
  await signInAsAdministrator(fixture);
  await createApplication(fixture, upstream.origin);
  await page.getByRole("switch", { name: "Access control" }).click();
  await page.getByRole("switch", { name: "Access control", checked: true }).waitFor();
  const key = await createKey(fixture);
  assertEquals(await statusOf(fixture, key), 200);
  await page.reload();
  await row(page, /nightly run/).getByText(`${key.slice(0, 8)}.…`).waitFor();
  assertEquals((await page.content()).includes(key), false);
  await page.getByRole("button", { name: "Revoke key nightly run" }).click();
  await dialog(page, /Revoke the key/).getByRole("button", { name: "Revoke key" }).click();
  await row(page, /nightly run/).waitFor({ state: "detached" });
  assertEquals(await statusOf(fixture, key), 401);
});

test("A link opens the application in a new tab without a referrer or an opener", async (fixture) => {
  const { page, context, project, gate, observer } = fixture;
  observer.allow(/favicon/);
  await using upstream = new UpstreamApp();
  await signInAsAdministrator(fixture);
  await createApplication(fixture, upstream.origin);
  const address = `http://127.0.0.1:${gate.port}/${project.id}/viewer/`;
  const link = page.getByRole("link", { name: address });
  assertEquals(await link.getAttribute("href"), address);
  const [opened] = await Promise.all([context.waitForEvent("page"), link.click()]);
  await opened.waitForLoadState();
  const text = await opened.locator("body").innerText();
  assert(text.includes('"method":"GET"'), text);
  assert(!/referer/i.test(text), text);
  assertEquals(await opened.evaluate(() => globalThis.opener), null);
  await opened.close();
  await openSection(page, "Applications");
  await row(page, "viewer").getByText("everyone").waitFor();
  await row(page, "viewer").getByRole("link", { name: /^Open viewer/ }).waitFor();
});

test(
  "The owner of a project creates applications, and only the administrator sets upstreams",
  async (fixture) => {
    const { page, project } = fixture;
    await signInAsOwner(fixture);
    await openSection(page, "Applications");
    await page.getByRole("button", { name: "New application" }).click();
    const first = dialog(page, "New application");
    // Without a host suffix only the administrator chooses host names.
    assertEquals(await first.getByLabel(/Upstream|Host name/).count(), 0);
    await first.getByLabel("Name", { exact: true }).fill("blog");
    await first.getByRole("button", { name: "Create application" }).click();
    await page.getByText("The same holds for the host name.").waitFor();
    assertEquals(await page.getByRole("button", { name: "Change host" }).count(), 0);
    (await project.call("PATCH", "", { body: { host_suffix: "example.com" } })).expect(200);
    await openSection(page, "Applications");
    await page.getByRole("button", { name: "New application" }).click();
    const form = dialog(page, "New application");
    assertEquals(await form.getByLabel("Upstream").count(), 0);
    await form.getByLabel("Name", { exact: true }).fill("notes");
    await form.getByLabel("Host name").fill("notes.example.com");
    await form.getByRole("button", { name: "Create application" }).click();
    await page.getByText("none yet: the gate has nothing to forward to").waitFor();
    await page.getByRole("button", { name: "Change host" }).click();
    await dialog(page, "Addresses of notes").getByLabel("Host name").fill("");
    await dialog(page, "Addresses of notes").getByRole("button", { name: "Save" }).click();
    await page.getByText("callers use its path").waitFor();
  },
);

test(
  "An invalid upstream is refused with a reason, a valid one is saved, and the application is deleted",
  async (fixture) => {
    const { page, observer, project } = fixture;
    observer.allow(/status of 400/);
    await signInAsAdministrator(fixture);
    await createApplication(fixture, "http://127.0.0.1:9");
    await page.getByRole("button", { name: "Change upstream and host" }).click();
    const form = dialog(page, "Addresses of viewer");
    await form.getByLabel("Upstream").fill("nowhere");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").filter({ hasText: "upstream" }).waitFor();
    await form.getByLabel("Upstream").fill("http://127.0.0.1:3000");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("definition").getByText("http://127.0.0.1:3000").waitFor();
    await page.getByRole("button", { name: "Delete application" }).click();
    const question = dialog(page, "Delete application viewer?");
    await question.getByLabel(/to confirm/).fill("viewer");
    await question.getByRole("button", { name: "Delete application" }).click();
    await page.getByText("No applications yet").waitFor();
    assertEquals((await project.call("GET", "/apps/viewer")).status, 404);
  },
);
