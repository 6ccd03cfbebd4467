import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { administer, Project, PROJECTS, withKey } from "../support/admin.ts";
import { assertAccessible } from "./support/accessibility.ts";
import { patternBytes } from "../support/bytes.ts";
import { altered, damageBytes, editStore } from "../faults/support/edit_store.ts";
import {
  dialog,
  openSection,
  row,
  signInAsAdministrator,
  signInAsOwner,
} from "./support/navigation.ts";
import type { Fixture } from "./support/fixture.ts";
import { suite } from "./support/suite.ts";
import { choose, file, openFolder, uploadRow } from "./support/uploads.ts";

const test = suite("Projects and their keys");

/** Copies the new secret with the button of the dialog, closes the dialog, and returns the secret. */
async function copySecret(fixture: Fixture, label: string): Promise<string> {
  const { page, observer } = fixture;
  const shown = page.getByRole("dialog");
  await shown.getByText(/This is shown once/).waitFor();
  const secret = await shown.getByLabel(label).inputValue();
  observer.registerSecret(secret);
  await shown.getByRole("button", { name: `Copy ${label.toLowerCase()}` }).click();
  await shown.getByText("Copied", { exact: true }).waitFor();
  assertEquals(await fixture.clipboard(), secret);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await shown.waitFor({ state: "detached" });
  await page.waitForFunction((text) => !document.documentElement.outerHTML.includes(text), secret);
  return secret;
}

test("A project is created and its key copied", async (fixture) => {
  const { page, server, observer } = fixture;
  observer.allow(/status of 400/);
  await signInAsAdministrator(fixture);
  await page.getByRole("button", { name: "New project" }).click();
  const form = dialog(page, "New project");
  const id = `made-${crypto.randomUUID()}`;
  await form.getByLabel("Name").fill("Öffis 😀");
  await form.getByLabel("Project id").fill("no good");
  await form.getByRole("button", { name: "Create project" }).click();
  assertStringIncludes(await form.getByRole("alert").innerText(), "project_id");
  await form.getByLabel("Project id").fill(id);
  await form.getByRole("button", { name: "Create project" }).click();
  const key = await copySecret(fixture, "Project key");
  assert(key.startsWith(`${id}_`));
  const opened = await administer(server, "GET", `${PROJECTS}/${id}`, { as: withKey(key) });
  assertEquals((opened.expect(200).json as { name: string }).name, "Öffis 😀");
  await page.getByRole("definition").getByText("Öffis 😀").waitFor();
  await page.getByRole("combobox", { name: "Project" }).selectOption({ label: "All projects" });
  await row(page, id).waitFor();
});

test("A project id that exists is refused in the dialog, which stays open", async (fixture) => {
  const { page, project, observer } = fixture;
  observer.allow(/status of 409/);
  await signInAsAdministrator(fixture);
  await page.getByRole("button", { name: "New project" }).click();
  const form = dialog(page, "New project");
  await form.getByLabel("Project id").fill(project.id);
  await page.keyboard.press("Enter");
  await form.getByRole("alert").filter({ hasText: project.id }).waitFor();
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
});

test("A damaged file is reported to the administrator until it is replaced", async (fixture) => {
  const { page, project, server } = fixture;
  const drive = project.drive("photos");
  await drive.put("cat.jpg", patternBytes(200_000));
  const place = [project.id, "photos", "cat.jpg"] as const;
  await editStore(server.data, (kv) => damageBytes(kv, "chunk", place, altered));
  (await drive.get("cat.jpg")).expect(500);
  await signInAsAdministrator(fixture);
  const warning = page.getByRole("alert").filter({ hasText: "cat.jpg in drive photos" });
  await warning.waitFor();
  await assertAccessible(page, "a damaged file");
  await drive.put("cat.jpg", patternBytes(10));
  await page.reload();
  await row(page, project.id).waitFor();
  assertEquals(await warning.count(), 0);
});

test("A project is deleted after its id is typed", async (fixture) => {
  const { page, project, server } = fixture;
  await project.drive("photos").put("cat.jpg", patternBytes(1000));
  await signInAsAdministrator(fixture);
  await row(page, project.id).getByRole("button", { name: `Delete project ${project.id}` }).click();
  const question = dialog(page, `Delete project ${project.id}?`);
  await question.getByText("1 file (1.0 kB)").waitFor();
  const button = question.getByRole("button", { name: "Delete project" });
  const typed = question.getByLabel(/^Type .* to confirm/);
  for (
    const [text, isReady] of [["", false], [project.id.slice(1), false], [
      project.id,
      true,
    ]] as const
  ) {
    await typed.fill(text);
    assertEquals(await button.isEnabled(), isReady, text);
  }
  // The notice disappears after some seconds: wait for it from the beginning.
  const notice = page.getByText(`The project ${project.id} is deleted`);
  await Promise.all([notice.waitFor(), button.click()]);
  await row(page, project.id).waitFor({ state: "detached" });
  (await administer(server, "GET", project.path)).expect(404);
});

test("Every project and drive has its usage as figures and a bar", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("photos").put("cat.jpg", patternBytes(3_000_000));
  await project.drive("films").put("a", patternBytes(1_000_000));
  await project.drive("films").put("b", patternBytes(1_000_000));
  await signInAsAdministrator(fixture);
  await page.getByText(/^[\d.]+ [kMGT]?B of [\d.]+ [kMGT]?B used, [\d.]+ [kMGT]?B free$/).waitFor();
  assertMatch(await row(page, project.id).innerText(), /3\s+5\.0 MB\s+.*of the disk/);
  await row(page, project.id).getByRole("link", { name: project.id }).click();
  await page.getByRole("definition").getByText("3 files, 5.0 MB in 2 drives").waitFor();
  assertMatch(await row(page, "films").innerText(), /films\s+2\s+2\.0 MB\s+.*% of the disk/);
  assertMatch(await row(page, "photos").innerText(), /photos\s+1\s+3\.0 MB/);
  const bars = await page.locator(".bar").evaluateAll((all) =>
    all.map((bar) => getComputedStyle(bar, "::before").width)
  );
  assert(bars.length >= 2 && bars.every((width) => parseFloat(width) >= 2), bars.join());
  await row(page, "films").getByRole("link", { name: "films" }).click();
  await page.getByRole("heading", { level: 1, name: "films" }).waitFor();
});

test("A limit is set, shown when nearly reached, changed and removed", async (fixture) => {
  const { page, server, observer } = fixture;
  await signInAsAdministrator(fixture);
  await page.getByRole("button", { name: "New project" }).click();
  const form = dialog(page, "New project");
  const id = `limited-${crypto.randomUUID()}`;
  await form.getByLabel("Project id").fill(id);
  await form.getByLabel("Limit").fill("ten");
  await form.getByRole("button", { name: "Create project" }).click();
  await form.getByRole("alert").filter({ hasText: "such as 500 MB" }).waitFor();
  await form.getByLabel("Limit").fill("1.5 MB");
  await form.getByRole("button", { name: "Create project" }).click();
  const project = new Project(server, id, await copySecret(fixture, "Project key"));
  await page.getByText("0% of 1.5 MB", { exact: true }).waitFor();

  await project.drive("a").put("a", patternBytes(1_400_000));
  await openSection(page, "Files");
  await openSection(page, "Keys & usage");
  await page.getByText("93% of 1.5 MB: nearly full").waitFor();
  await assertAccessible(page, "A project near its limit");
  const change = page.getByRole("button", { name: "Change limit" });
  const question = dialog(page, `Limit of ${id}`);
  await change.click();
  assertEquals(await question.getByLabel("Limit").inputValue(), "1.5 MB");
  await question.getByLabel("Limit").fill("1 MB");
  await question.getByRole("button", { name: "Save" }).click();
  await page.getByText("140% of 1.0 MB: full, nothing can be added").waitFor();
  await assertAccessible(page, "A project over its limit");
  await page.getByRole("combobox", { name: "Project" }).selectOption({ label: "All projects" });
  await row(page, id).getByText("140% of 1.0 MB: full").waitFor();
  await row(page, id).getByRole("link", { name: id }).click();
  await change.click();
  await question.getByLabel("Limit").fill("");
  await question.getByRole("button", { name: "Save" }).click();
  await page.getByText("Limited by the disk only.").waitFor();
  const shown = (await project.call("GET", "")).json as { max_bytes: number | null };
  assertEquals(shown.max_bytes, null);
  observer.registerSecret(project.key);
});

test(
  "An owner sees the limit, and an upload above it is refused once, with the reason",
  async (fixture) => {
    const { page, project, observer } = fixture;
    observer.allow(/status of 507/);
    (await project.call("PATCH", "", { body: { max_bytes: 1000 } })).expect(200);
    await project.drive("photos").put("cat.jpg", patternBytes(500));
    await signInAsOwner(fixture);
    await openSection(page, "Keys & usage");
    await page.getByText("50% of 1.0 kB", { exact: true }).waitFor();
    assertEquals(await page.getByRole("button", { name: "Change limit" }).count(), 0);
    await openFolder(fixture, "photos");
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await choose(page, "Upload files", [file("dog.jpg", patternBytes(501))]);
    const refused = uploadRow(page, "dog.jpg");
    await refused.getByText("The project has 500 B of its 1.0 kB in use and cannot take 501 B more")
      .waitFor();
    await choose(page, "Upload files", [file("bird.jpg", patternBytes(500))]);
    await uploadRow(page, "bird.jpg").getByText("uploaded").waitFor();
    assertEquals(sent.length, 2);
  },
);

test("Keys are created, listed by their prefixes, and revoked", async (fixture) => {
  const { page, project, server } = fixture;
  await signInAsOwner(fixture);
  await row(page, new RegExp(project.id)).getByText("signed in with it").waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  await dialog(page, "New key").getByLabel("Name").fill("backup");
  await dialog(page, "New key").getByRole("button", { name: "Create key" }).click();
  const key = await copySecret(fixture, "Project key");
  (await administer(server, "GET", project.path, { as: withKey(key) })).expect(200);
  const prefix = key.slice(project.id.length + 1).slice(0, 8);
  const created = row(page, `${project.id}_${prefix}…`);
  await created.getByText("backup").waitFor();
  await created.getByRole("button", { name: `Revoke key ${prefix}` }).click();
  const question = dialog(page, new RegExp(`^Revoke the key ${prefix}`));
  await question.getByRole("button", { name: "Cancel" }).click();
  await created.getByRole("button", { name: `Revoke key ${prefix}` }).click();
  await question.getByRole("button", { name: "Revoke key" }).click();
  await created.waitFor({ state: "detached" });
  assertEquals((await administer(server, "GET", project.path, { as: withKey(key) })).status, 401);
});

test("Revoking the key of the session shows a warning and signs out", async (fixture) => {
  const { page, observer } = fixture;
  observer.allow(/status of 401/);
  await signInAsOwner(fixture);
  await page.getByRole("button", { name: /^Revoke key/ }).click();
  const question = page.getByRole("dialog");
  await question.getByText("You are signed in with this key").waitFor();
  await question.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("heading", { name: "Sign in to kvdrive" }).waitFor();
});

test("An empty project shows the next steps", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await page.getByText("No drives yet").waitFor();
  await page.getByRole("link", { name: "Upload a first file" }).click();
  await page.getByText("This project has no files yet").waitFor();
  await openSection(page, "Uploads");
  await page.getByText("No upload is in progress").waitFor();
  await openSection(page, "Applications");
  await page.getByText("No applications yet").waitFor();
});
