import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { dialog, openSection, signInAsAdministrator, signInAsOwner } from "./support/desk.ts";
import type { Scene } from "./support/scene.ts";
import { stories } from "./support/stories.ts";
import { choose, entry, file, openFolder } from "./support/uploads.ts";
import { utf8 } from "../support/bytes.ts";

const NAME = "<img src=x onerror=alert(1)>.html";

/** Everything that a page would do with the secret if it ran where the dashboard does. */
const THEFT = `
  try { top.canary = sessionStorage.getItem("kvdrive") ?? "ran"; } catch {}
  try { parent.document.title = "stolen"; } catch {}
  try { fetch("/stolen?" + encodeURIComponent(sessionStorage.getItem("kvdrive"))); } catch {}
  alert(1);`;
const PAGE = `<!doctype html><title>x</title><script>${THEFT}</script>
<img src=x onerror='${THEFT.replaceAll("'", "&#39;")}'><svg onload=alert(1)></svg>
<iframe srcdoc="<script>alert(1)</script>"></iframe><meta http-equiv=refresh content="0;url=/stolen">`;

/** Types under which a browser would run it, or guess that it should. */
const TYPES = [
  "text/html",
  "application/xhtml+xml",
  "image/svg+xml",
  "text/xml",
  "application/pdf",
  "text/javascript",
  "",
];

const story = stories("Hostile files and names");

/** What none of them may have done: dialogs, refusals of the policy and lines in the console are judged besides. */
async function assertNothingRan(page: Page): Promise<void> {
  assertEquals(await page.evaluate(() => "canary" in globalThis), false);
  assertEquals((await page.title()).includes("stolen"), false);
  assertEquals(await page.locator("img[src=x], [onerror], [onload]").count(), 0);
  for (const frame of page.frames()) assertEquals(frame.url().includes("stolen"), false);
}

function noteThefts({ page }: Scene): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("stolen")) asked.push(request.url());
  });
  return asked;
}

story(
  "Nothing of a hostile file runs: uploaded, listed, opened, searched, selected and deleted.",
  async (scene) => {
    const { page, project } = scene;
    const thefts = noteThefts(scene);
    await signInAsOwner(scene);
    await openSection(page, "Files");
    await page.getByLabel("Name of the drive").fill("<b onclick=alert(1)>drive");
    await choose(page, "Upload files", [file(NAME, utf8(PAGE), "text/html")]);
    await page.getByRole("heading", { level: 1, name: "<b onclick=alert(1)>drive" }).waitFor();
    await entry(page, NAME).waitFor();
    await assertNothingRan(page);
    await entry(page, NAME).getByRole("button").click();
    const shown = dialog(page, NAME);
    await shown.getByText("ETag").waitFor();
    assertEquals(await shown.getByLabel("Content").evaluate((pre) => pre.textContent), PAGE);
    await assertNothingRan(page);
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox").fill("<img");
    await page.waitForTimeout(300);
    await entry(page, NAME).waitFor();
    await choose(page, "Upload files", [file(NAME, utf8(PAGE), "text/html")]);
    const question = page.getByRole("dialog", { name: "Overwrite 1 file?" });
    await question.getByText(NAME).waitFor();
    await assertNothingRan(page);
    await question.getByRole("button", { name: "Overwrite 1 file" }).click();
    await entry(page, NAME).getByRole("checkbox").click();
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByText(NAME).waitFor();
    await page.getByRole("button", { name: "Delete 1 file" }).click();
    await entry(page, NAME).waitFor({ state: "detached" });
    await assertNothingRan(page);
    assertEquals(await project.drive("<b onclick=alert(1)>drive").names(), []);
    assertEquals(thefts, []);
  },
);

story("Nothing of it runs under any type that it may be stored with.", async (scene) => {
  const { page, project } = scene;
  const thefts = noteThefts(scene);
  const drive = project.drive("hostile");
  for (const [index, type] of TYPES.entries()) {
    await drive.put(`${index} ${NAME}`, `${type === "application/pdf" ? "%PDF-1.4" : ""}${PAGE}`, {
      "Content-Type": type,
    });
  }
  await signInAsOwner(scene);
  await openFolder(scene, "hostile");
  for (const index of TYPES.keys()) {
    await entry(page, `${index} ${NAME}`).getByRole("button").click();
    const shown = dialog(page, `${index} ${NAME}`);
    await shown.getByText("ETag").waitFor();
    await shown.getByRole("progressbar").waitFor({ state: "detached" });
    // That nothing happens is no event: this is the time in which it would.
    await page.waitForTimeout(200);
    await assertNothingRan(page);
    // Keys may be the PDF viewer's by now.
    await shown.getByRole("button", { name: "Close" }).click();
    await shown.waitFor({ state: "detached" });
  }
  assertEquals(thefts, []);
});

story("Nothing runs in names of projects, keys, applications and uploads.", async (scene) => {
  const { page, project } = scene;
  const name = "<img src=x onerror=alert(1)>";
  await project.call("POST", "/keys", { body: { name } });
  await project.makeProtectedApp("viewer");
  await project.makeAppKey("/apps/viewer", { name: "key", description: name });
  const drive = project.drive(name);
  (await drive.send("POST", `/uploads?name=${encodeURIComponent(NAME)}`)).expect(202);
  await signInAsAdministrator(scene);
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("definition").getByText(name).waitFor();
  await assertNothingRan(page);
  await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
  for (const section of ["Keys & usage", "Files", "Uploads", "Applications", "Connect"] as const) {
    await openSection(page, section);
    await page.getByText("Loading…").waitFor({ state: "detached" });
    await assertNothingRan(page);
  }
});
