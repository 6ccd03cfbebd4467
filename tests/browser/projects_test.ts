import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { administer, Project, PROJECTS, withKey } from "../support/admin.ts";
import { assertAccessible } from "./support/accessibility.ts";
import { patternBytes } from "../support/bytes.ts";
import { changeFirst, editStore } from "../faults/support/edit_store.ts";
import { dialog, openSection, row, signInAsAdministrator, signInAsOwner } from "./support/desk.ts";
import type { Scene } from "./support/scene.ts";
import { stories } from "./support/stories.ts";
import { choose, file, openFolder, transfer } from "./support/uploads.ts";

const story = stories("Projects and their keys");

/** The secret that is shown this once, after its copy button was pressed. */
async function copySecret(scene: Scene, label: string): Promise<string> {
  const { page, watch } = scene;
  const shown = page.getByRole("dialog");
  await shown.getByText(/This is shown once/).waitFor();
  const secret = await shown.getByLabel(label).inputValue();
  watch.keepSecret(secret);
  await shown.getByRole("button", { name: `Copy ${label.toLowerCase()}` }).click();
  await shown.getByText("Copied", { exact: true }).waitFor();
  assertEquals(await scene.clipboard(), secret);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await shown.waitFor({ state: "detached" });
  await page.waitForFunction((text) => !document.documentElement.outerHTML.includes(text), secret);
  return secret;
}

story("A project is made, its key copied, and the project is there.", async (scene) => {
  const { page, server, watch } = scene;
  watch.expect(/status of 400/);
  await signInAsAdministrator(scene);
  await page.getByRole("button", { name: "New project" }).click();
  const asked = dialog(page, "New project");
  const id = `made-${crypto.randomUUID()}`;
  await asked.getByLabel("Name").fill("Öffis 😀");
  await asked.getByLabel("Project id").fill("no good");
  await asked.getByRole("button", { name: "Create project" }).click();
  assertStringIncludes(await asked.getByRole("alert").innerText(), "project_id");
  await asked.getByLabel("Project id").fill(id);
  await asked.getByRole("button", { name: "Create project" }).click();
  const key = await copySecret(scene, "Project key");
  assert(key.startsWith(`${id}_`));
  const opened = await administer(server, "GET", `${PROJECTS}/${id}`, { as: withKey(key) });
  assertEquals((opened.expect(200).json as { name: string }).name, "Öffis 😀");
  await page.getByRole("definition").getByText("Öffis 😀").waitFor();
  await page.getByRole("combobox", { name: "Project" }).selectOption({ label: "All projects" });
  await row(page, id).waitFor();
});

story("An id that is taken is refused in the dialog, which stays.", async (scene) => {
  const { page, project, watch } = scene;
  watch.expect(/status of 409/);
  await signInAsAdministrator(scene);
  await page.getByRole("button", { name: "New project" }).click();
  const asked = dialog(page, "New project");
  await asked.getByLabel("Project id").fill(project.id);
  await page.keyboard.press("Enter");
  await asked.getByRole("alert").filter({ hasText: project.id }).waitFor();
  await page.keyboard.press("Escape");
  await asked.waitFor({ state: "detached" });
});

story("A damaged file is told to the administrator until it is replaced.", async (scene) => {
  const { page, project, server } = scene;
  const drive = project.drive("photos");
  await drive.put("cat.jpg", patternBytes(200_000));
  const chunks = ["chunk", project.id, "photos", "cat.jpg"];
  const flip = (it: Uint8Array) => it.with(0, (it[0] ?? 0) ^ 1);
  await editStore(server.data, (kv) => changeFirst(kv, chunks, flip));
  (await drive.get("cat.jpg")).expect(500);
  await signInAsAdministrator(scene);
  const told = page.getByRole("alert").filter({ hasText: "cat.jpg in drive photos" });
  await told.waitFor();
  await assertAccessible(page, "a damaged file");
  await drive.put("cat.jpg", patternBytes(10));
  await page.reload();
  await row(page, project.id).waitFor();
  assertEquals(await told.count(), 0);
});

story("A project is deleted with its id typed in.", async (scene) => {
  const { page, project, server } = scene;
  await project.drive("photos").put("cat.jpg", patternBytes(1000));
  await signInAsAdministrator(scene);
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
  await button.click();
  await row(page, project.id).waitFor({ state: "detached" });
  await page.getByText(`The project ${project.id} is deleted`).waitFor();
  const gone = await administer(server, "GET", project.path);
  gone.expect(404);
});

story("Usage stands beside each project and drive, as figures and bars.", async (scene) => {
  const { page, project } = scene;
  await project.drive("photos").put("cat.jpg", patternBytes(3_000_000));
  await project.drive("films").put("a", patternBytes(1_000_000));
  await project.drive("films").put("b", patternBytes(1_000_000));
  await signInAsAdministrator(scene);
  await page.getByText(/^[\d.]+ [GT]B of [\d.]+ [GT]B used, [\d.]+ [GT]B free$/).waitFor();
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

story("A limit is set with a project, changed, seen near its end, and lifted.", async (scene) => {
  const { page, server, watch } = scene;
  await signInAsAdministrator(scene);
  await page.getByRole("button", { name: "New project" }).click();
  const asked = dialog(page, "New project");
  const id = `limited-${crypto.randomUUID()}`;
  await asked.getByLabel("Project id").fill(id);
  await asked.getByLabel("Limit").fill("ten");
  await asked.getByRole("button", { name: "Create project" }).click();
  await asked.getByRole("alert").filter({ hasText: "such as 500 MB" }).waitFor();
  await asked.getByLabel("Limit").fill("1.5 MB");
  await asked.getByRole("button", { name: "Create project" }).click();
  const project = new Project(server, id, await copySecret(scene, "Project key"));
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
  watch.keepSecret(project.key);
});

story(
  "An owner sees the limit, and an upload beyond it is refused once, with the reason.",
  async (scene) => {
    const { page, project, watch } = scene;
    watch.expect(/status of 507/);
    (await project.call("PATCH", "", { body: { max_bytes: 1000 } })).expect(200);
    await project.drive("photos").put("cat.jpg", patternBytes(500));
    await signInAsOwner(scene);
    await openSection(page, "Keys & usage");
    await page.getByText("50% of 1.0 kB", { exact: true }).waitFor();
    assertEquals(await page.getByRole("button", { name: "Change limit" }).count(), 0);
    await openFolder(scene, "photos");
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await choose(page, "Upload files", [file("dog.jpg", patternBytes(501))]);
    const refused = transfer(page, "dog.jpg");
    await refused.getByText("The project has 500 B of its 1.0 kB in use and cannot take 501 B more")
      .waitFor();
    await choose(page, "Upload files", [file("bird.jpg", patternBytes(500))]);
    await transfer(page, "bird.jpg").getByText("uploaded").waitFor();
    assertEquals(sent.length, 2);
  },
);

story("Keys are made, listed by their prefixes, and revoked.", async (scene) => {
  const { page, project, server } = scene;
  await signInAsOwner(scene);
  await row(page, new RegExp(project.id)).getByText("signed in with it").waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  await dialog(page, "New key").getByLabel("Name").fill("backup");
  await dialog(page, "New key").getByRole("button", { name: "Create key" }).click();
  const key = await copySecret(scene, "Project key");
  (await administer(server, "GET", project.path, { as: withKey(key) })).expect(200);
  const prefix = key.slice(project.id.length + 1).slice(0, 8);
  const made = row(page, `${project.id}_${prefix}…`);
  await made.getByText("backup").waitFor();
  await made.getByRole("button", { name: `Revoke key ${prefix}` }).click();
  const question = dialog(page, new RegExp(`^Revoke the key ${prefix}`));
  await question.getByRole("button", { name: "Cancel" }).click();
  await made.getByRole("button", { name: `Revoke key ${prefix}` }).click();
  await question.getByRole("button", { name: "Revoke key" }).click();
  await made.waitFor({ state: "detached" });
  assertEquals((await administer(server, "GET", project.path, { as: withKey(key) })).status, 401);
});

story("Who revokes the key that they signed in with is told so, and signed out.", async (scene) => {
  const { page, watch } = scene;
  watch.expect(/status of 401/);
  await signInAsOwner(scene);
  await page.getByRole("button", { name: /^Revoke key/ }).click();
  const question = page.getByRole("dialog");
  await question.getByText("You are signed in with this key").waitFor();
  await question.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("heading", { name: "Sign in to kvdrive" }).waitFor();
});

story("A project that holds nothing tells what to do.", async (scene) => {
  const { page } = scene;
  await signInAsOwner(scene);
  await page.getByText("No drives yet").waitFor();
  await page.getByRole("link", { name: "Upload a first file" }).click();
  await page.getByText("This project has no files yet").waitFor();
  await openSection(page, "Uploads");
  await page.getByText("No upload is in progress").waitFor();
  await openSection(page, "Applications");
  await page.getByText("No applications yet").waitFor();
});
