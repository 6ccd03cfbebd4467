import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import {
  dialog,
  openSection,
  signInAsAdministrator,
  signInAsOwner,
  waitUntilLoaded,
} from "./support/navigation.ts";
import type { Fixture } from "./support/fixture.ts";
import { suite } from "./support/suite.ts";
import { choose, entry, file, openFolder, uploadRow } from "./support/uploads.ts";
import { utf8 } from "../support/bytes.ts";

const NAME = "<img src=x onerror=alert(1)>.html";

/** A script that reads the secret of the session, sends it to the server and marks the page. */
const THEFT = `
  try { top.canary = sessionStorage.getItem("kvdrive") ?? "ran"; } catch {}
  try { parent.document.title = "stolen"; } catch {}
  try { fetch("/stolen?" + encodeURIComponent(sessionStorage.getItem("kvdrive"))); } catch {}
  alert(1);`;
const PAGE = `<!doctype html><title>x</title><script>${THEFT}</script>
<img src=x onerror='${THEFT.replaceAll("'", "&#39;")}'><svg onload=alert(1)></svg>
<iframe srcdoc="<script>alert(1)</script>"></iframe><meta http-equiv=refresh content="0;url=/stolen">`;

/** Content types under which a browser runs the page, or could detect HTML. */
const TYPES = [
  "text/html",
  "application/xhtml+xml",
  "image/svg+xml",
  "text/xml",
  "application/pdf",
  "text/javascript",
  "",
];

const test = suite("Hostile files and names");

/** Fails if a script of a stored file ran. The observer reports dialogs, policy violations and console output. */
async function assertNothingRan(page: Page): Promise<void> {
  assertEquals(await page.evaluate(() => "canary" in globalThis), false);
  assertEquals((await page.title()).includes("stolen"), false);
  assertEquals(await page.locator("img[src=x], [onerror], [onload]").count(), 0);
  for (const frame of page.frames()) assertEquals(frame.url().includes("stolen"), false);
}

/** Searches, and waits for the response, so that the list is not replaced later. */
async function search(page: Page, text: string): Promise<void> {
  const query = new URLSearchParams({ prefix: text }).toString();
  const response = page.waitForResponse((response) => response.url().includes(query));
  await page.getByRole("searchbox").fill(text);
  await (await response).finished();
}

/** Records requests that a script of a stored file sends. */
function recordThefts({ page }: Fixture): string[] {
  const requested: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("stolen")) requested.push(request.url());
  });
  return requested;
}

test(
  "A hostile file runs nothing while it is uploaded, listed, opened, searched, selected and deleted",
  async (fixture) => {
    const { page, project } = fixture;
    const thefts = recordThefts(fixture);
    await signInAsOwner(fixture);
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
    await search(page, "<img");
    await entry(page, NAME).waitFor();
    await choose(page, "Upload files", [file(NAME, utf8(PAGE), "text/html")]);
    const question = page.getByRole("dialog", { name: "Overwrite 1 file?" });
    await question.getByText(NAME).waitFor();
    await assertNothingRan(page);
    await question.getByRole("button", { name: "Overwrite 1 file" }).click();
    // The first upload of that name is in the list, too.
    await uploadRow(page, NAME).getByText("uploaded").nth(1).waitFor();
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

test("A hostile file runs nothing under any content type", async (fixture) => {
  const { page, project } = fixture;
  const thefts = recordThefts(fixture);
  const drive = project.drive("hostile");
  for (const [index, type] of TYPES.entries()) {
    await drive.put(`${index} ${NAME}`, `${type === "application/pdf" ? "%PDF-1.4" : ""}${PAGE}`, {
      "Content-Type": type,
    });
  }
  await signInAsOwner(fixture);
  await openFolder(fixture, "hostile");
  for (const index of TYPES.keys()) {
    await entry(page, `${index} ${NAME}`).getByRole("button").click();
    const shown = dialog(page, `${index} ${NAME}`);
    await shown.getByText("ETag").waitFor();
    await shown.getByRole("progressbar").waitFor({ state: "detached" });
    // A script would run within this time. A slow machine can hide a failure here, but not cause one.
    await page.waitForTimeout(200);
    await assertNothingRan(page);
    // The PDF viewer may have the focus and handle the Escape key.
    await shown.getByRole("button", { name: "Close" }).click();
    await shown.waitFor({ state: "detached" });
  }
  assertEquals(thefts, []);
});

test("HTML in names of projects, keys, applications and uploads is shown as text", async (fixture) => {
  const { page, project } = fixture;
  const name = "<img src=x onerror=alert(1)>";
  await project.call("POST", "/keys", { body: { name } });
  await project.makeProtectedApp("viewer");
  await project.makeAppKey("/apps/viewer", { name: "key", description: name });
  const drive = project.drive(name);
  (await drive.send("POST", `/uploads?name=${encodeURIComponent(NAME)}`)).expect(202);
  await signInAsAdministrator(fixture);
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("definition").getByText(name).waitFor();
  await assertNothingRan(page);
  await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
  for (const section of ["Keys & usage", "Files", "Uploads", "Applications", "Connect"] as const) {
    await openSection(page, section);
    await waitUntilLoaded(page);
    await assertNothingRan(page);
  }
});
