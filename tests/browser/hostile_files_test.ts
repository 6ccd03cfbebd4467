import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import type { Fixture } from "./support/fixture.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { contentOf, open, show } from "./support/previews.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Hostile files and names");

const NAME = "<img src=x onerror=alert(1)>.html";

/** A script that marks the page, and calls the server. */
const THEFT = `
  try { top.canary = "ran"; } catch {}
  try { parent.document.title = "stolen"; } catch {}
  try { fetch("/stolen?" + encodeURIComponent(document.cookie)); } catch {}
  alert(1);`;
const PAGE = `<!doctype html><title>x</title><script>${THEFT}</script>
<img src=x onerror='${THEFT.replaceAll("'", "&#39;")}'><svg onload=alert(1)></svg>
<iframe srcdoc="<script>alert(1)</script>"></iframe><meta http-equiv=refresh content="0;url=/stolen">`;
const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="${
  THEFT.replaceAll('"', "&quot;")
}"><script>${THEFT}</script><image href="/stolen"/><foreignObject width="9" height="9">
<body xmlns="http://www.w3.org/1999/xhtml"><img src="/stolen" onerror="alert(1)"/></body></foreignObject>
<rect width="9" height="9" fill="red"/></svg>`;
/** Runs a script of its own when it is opened, in a viewer that has scripts. */
const PDF =
  `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\); this.submitForm\\('/stolen'\\))>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>endobj
trailer<</Root 1 0 R>>\n%%EOF\n`;
const MARKDOWN = `# <script>${THEFT}</script>

<img src=x onerror="alert(1)"> and <a href="javascript:alert(1)">raw</a>

[script](javascript:alert(1)) [coded](&#106;avascript:alert(1)) [data](data:text/html,<script>alert(1)</script>)
[plain](https://example.com/) ![tracked](/stolen) ![tracked](https://example.com/stolen.png)

<iframe src="/stolen"></iframe>
`;

/** Content types under which a browser runs the page, or could detect HTML. */
const TYPES = [
  "text/html",
  "application/xhtml+xml",
  "image/svg+xml",
  "text/xml",
  "application/pdf",
  "text/javascript",
  "text/markdown",
  "text/csv",
  "application/json",
  "image/png",
  "video/mp4",
  "application/octet-stream",
];

/** Fails if a script of a stored file ran. The observer reports dialogs, policy violations and console output. */
async function assertNothingRan(page: Page): Promise<void> {
  // A script would run within this time. A slow machine can hide a failure here, but not cause one.
  await page.waitForTimeout(200);
  assertEquals(await page.evaluate(() => "canary" in globalThis), false);
  assertEquals((await page.title()).includes("stolen"), false);
  assertEquals(await page.locator("img[src=x], [onerror], [onload]").count(), 0);
  for (const frame of page.frames()) assertEquals(frame.url().includes("stolen"), false);
}

/** Records requests that a script of a stored file sends. */
function recordThefts({ page }: Fixture): string[] {
  const requested: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname.includes("stolen")) requested.push(request.url());
  });
  return requested;
}

test("A hostile file runs nothing under any content type", async (fixture) => {
  const { page, project } = fixture;
  const thefts = recordThefts(fixture);
  const drive = project.drive("hostile");
  for (const [index, type] of TYPES.entries()) {
    const content = `${type === "application/pdf" ? "%PDF-1.4" : ""}${PAGE}`;
    await drive.put(`${index} ${NAME}`, content, { "Content-Type": type });
  }
  await signInAsOwner(fixture);
  await openFolder(fixture, "hostile");
  for (const index of TYPES.keys()) {
    const shown = await open(fixture, `${index} ${NAME}`);
    await shown.getByRole("status", { name: "Loading" }).waitFor({ state: "detached" });
    await assertNothingRan(page);
    await shown.getByRole("button", { name: "Details" }).click();
    await assertNothingRan(page);
    // The PDF viewer may have the focus and handle the Escape key.
    await shown.getByRole("button", { name: "Close", exact: true }).click();
    await shown.waitFor({ state: "detached" });
  }
  assertEquals(thefts, []);
});

test("The source of a page is shown unchanged", async (fixture) => {
  const shown = await show(fixture, NAME, PAGE, "text/html");
  assertEquals(await contentOf(shown), PAGE);
  await assertNothingRan(fixture.page);
});

test("A drawing is seen, and its scripts do not run", async (fixture) => {
  const { page } = fixture;
  const thefts = recordThefts(fixture);
  const shown = await show(fixture, "drawing.svg", DRAWING, "image/svg+xml");
  const image = shown.getByRole("img", { name: "drawing.svg" });
  await image.waitFor();
  assert(await image.evaluate((one) => (one as HTMLImageElement).naturalWidth > 0));
  await assertNothingRan(page);
  await shown.getByRole("button", { name: "Show the source" }).click();
  assertEquals(await contentOf(shown), DRAWING);
  await assertNothingRan(page);
  assertEquals(thefts, []);
});

test("The scripts of a PDF reach nothing", async (fixture) => {
  const { page } = fixture;
  const thefts = recordThefts(fixture);
  // The browser's viewer runs them in a process of its own, where they can open a dialog, and neither reach the page nor
  // the server.
  fixture.observer.allow(/^Dialog: 1$/);
  const shown = await show(fixture, "paper.pdf", PDF);
  await shown.locator("iframe").waitFor();
  await page.waitForTimeout(1000);
  await assertNothingRan(page);
  assertEquals(thefts, []);
});

test("Markdown runs nothing, and loads nothing from elsewhere", async (fixture) => {
  const { page } = fixture;
  const thefts = recordThefts(fixture);
  const shown = await show(fixture, "notes.md", MARKDOWN);
  const text = await contentOf(shown);
  assert(text.includes(`<img src=x onerror="alert(1)">`));
  const addresses = await shown.locator(".markdown a").evaluateAll((all) =>
    all.map((one) => [(one as HTMLAnchorElement).href, one.getAttribute("rel")])
  );
  assertEquals(addresses, [["https://example.com/", "noopener noreferrer"]]);
  assertEquals(await shown.locator(".markdown :is(img, iframe, script)").count(), 0);
  await assertNothingRan(page);
  assertEquals(thefts, []);
});

test("Names with markup, control characters and bidirectional text deceive nobody", async (fixture) => {
  const { page, project } = fixture;
  const names = ["<b onclick=alert(1)>bold.txt", "photo\u202egnp.exe", "two\nlines.txt"];
  for (const name of names) await project.drive("hostile").put(name, "text");
  await signInAsOwner(fixture);
  await openFolder(fixture, "hostile");
  await page.getByRole("grid").getByRole("row").nth(1).dblclick();
  const headings: string[] = [];
  for (const _ of names) {
    const heading = page.getByRole("dialog").getByRole("heading", { level: 2 }).first();
    headings.push(await heading.textContent() ?? "");
    await assertNothingRan(page);
    await page.keyboard.press("ArrowRight");
  }
  assertEquals(headings.toSorted(), [
    "<b onclick=alert(1)>bold.txt",
    "photo\ufffdgnp.exe",
    "two\ufffdlines.txt",
  ]);
});

test("A hostile name is listed, selected and deleted as text", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("<b onclick=alert(1)>drive").put(NAME, PAGE, { "Content-Type": "text/html" });
  await signInAsOwner(fixture);
  await openFolder(fixture, "<b onclick=alert(1)>drive");
  await entry(page, NAME).click();
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByLabel("SHA-256", { exact: true }).waitFor();
  await assertNothingRan(page);
  await page.keyboard.press("Escape");
  await entry(page, NAME).click();
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: /^Delete/ }).click();
  await entry(page, NAME).waitFor({ state: "detached" });
  await assertNothingRan(page);
});

test("Code has colors, and its markup stays text", async (fixture) => {
  const code =
    '/* <img src=x onerror=alert(1)>\n */ const a = "</pre><script>alert(1)</script>" + 1;\n';
  const shown = await show(fixture, "code.ts", code.repeat(2000));
  await shown.locator(".code-number").nth(1499).waitFor();
  const classes = await shown.locator(".code span").nth(0).locator("span").evaluateAll((spans) =>
    spans.map((span) => span.className)
  );
  assertEquals(classes, ["code-comment", "code-comment"]);
  assertEquals(await shown.locator(".code :is(img, script)").count(), 0);
  assertEquals(await contentOf(shown), code.repeat(1500));
});
