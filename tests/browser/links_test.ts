import { assert, assertEquals, assertLess } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import type { Locator, Page } from "playwright-core";
import { utf8 } from "../support/bytes.ts";
import { query } from "../support/drive.ts";
import { makeLink } from "../support/sharing/links.ts";
import type { Fixture } from "./support/fixture.ts";
import { PHONE } from "./support/fixture.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { pdf, png, wav } from "./support/samples.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";

const test = suite("Links in a browser");

/** A script that acts as the origin of the server, if a browser runs it. */
const THEFT = `
  document.title = "ran";
  try { top.canary = "ran"; } catch {}
  try { localStorage.setItem("stolen", document.cookie + sessionStorage.length); } catch {}
  try { navigator.serviceWorker.register(location.href); } catch {}
  try { fetch("/stolen?" + encodeURIComponent(document.cookie)); } catch {}`;
const SVG =
  `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>${THEFT}</script></svg>`;

/** Files whose scripts a browser runs where it may. */
const HOSTILE: Record<string, [type: string, content: string]> = {
  "page.html": ["text/html", `<!doctype html><title>x</title><script>${THEFT}</script>`],
  "image.svg": ["image/svg+xml", SVG],
  "data.xml": [
    "text/xml",
    `<x xmlns:h="http://www.w3.org/1999/xhtml"><h:script>${THEFT}</h:script></x>`,
  ],
  "page.xhtml": [
    "application/xhtml+xml",
    `<html xmlns="http://www.w3.org/1999/xhtml"><script>${THEFT}</script></html>`,
  ],
  "script.js": ["text/javascript", THEFT],
  "as-image.png": ["image/png", `<!doctype html><script>${THEFT}</script>`],
  "as-text.txt": ["text/plain", `<!doctype html><script>${THEFT}</script>`],
  "odd.bin": ["text/html, image/png", `<!doctype html><script>${THEFT}</script>`],
};

/** Opens an address, which may be a download. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url).catch((error: Error) => {
    if (!/Download is starting|ERR_ABORTED/.test(error.message)) throw error;
  });
  // A script would run within this time. A slow machine can hide a failure here, but not cause one.
  await page.waitForTimeout(150);
}

/** Waits for a condition. Timers of the page itself do not run, as its policy allows no scripts. */
async function poll(page: Page, isMet: () => Promise<boolean>): Promise<void> {
  for (let i = 0; !await isMet(); i++) {
    assertLess(i, 500, "The condition was never met");
    await page.waitForTimeout(20);
  }
}

async function assertNothingRan({ page, context, server }: Fixture): Promise<void> {
  assert(!(await page.title()).includes("ran"));
  assertEquals(await page.evaluate(() => "canary" in globalThis), false);
  assertEquals(context.serviceWorkers(), []);
  await page.goto(`${server.origin}/`);
  assertEquals(await page.evaluate(() => localStorage.getItem("stolen")), null);
}

test("A hostile file runs nothing, opened by a link, in a folder, or previewed", async (fixture) => {
  const { page, project } = fixture;
  // What the policies refuse is reported. A type that is no image cannot be shown.
  fixture.observer.allow(/CSP: |Content Security Policy|Blocked script execution|Failed to load/);
  const thefts: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("stolen")) thefts.push(request.url());
  });
  await signInAsOwner(fixture);
  const drive = project.drive("hostile");
  for (const [name, [type, content]] of Object.entries(HOSTILE)) {
    await drive.put(`files/${name}`, content, { "Content-Type": type });
  }
  const folder = await makeLink(drive, { prefix: "files/" });
  for (const name of Object.keys(HOSTILE)) {
    const { url } = await makeLink(drive, { name: `files/${name}` });
    const inFolder = `${folder.url}?name=${name}`;
    for (const address of [url, `${url}?preview`, inFolder, `${inFolder}&preview`]) {
      await open(page, address);
      await assertNothingRan(fixture);
    }
  }
  assertEquals(thefts, []);
});

test("No page can frame a link, load it as a script, or register it as a worker", async (fixture) => {
  const { page, project, server } = fixture;
  fixture.observer.allow(/./);
  const drive = project.drive("hostile");
  await drive.put("a.js", THEFT, { "Content-Type": "text/javascript" });
  await drive.put("a.txt", "text", { "Content-Type": "text/plain" });
  const script = (await makeLink(drive, { name: "a.js" })).url;
  const text = (await makeLink(drive, { name: "a.txt" })).url;
  // A page of the server's own origin, without a policy.
  await page.route("**/bare", (route) => route.fulfill({ contentType: "text/html", body: "<p>" }));
  await page.goto(`${server.origin}/bare`);
  const found = await page.evaluate(async ([script, text]) => {
    const load = (tag: string, attribute: string, value: string) =>
      new Promise<string>((resolve) => {
        const element = document.createElement(tag);
        element.onload = () => resolve("loaded");
        element.onerror = () => resolve("refused");
        element.setAttribute(attribute, value);
        document.body.append(element);
      });
    const frame = document.createElement("iframe");
    frame.src = text ?? "";
    const loaded = new Promise((resolve) => frame.onload = resolve);
    document.body.append(frame);
    await loaded;
    let framed = "opaque";
    try {
      framed = frame.contentDocument?.body.textContent ?? "opaque";
    } catch { /* It has another origin. */ }
    return {
      script: await load("script", "src", script ?? ""),
      worker: await navigator.serviceWorker.register(script ?? "").then(
        () => "registered",
        () => "refused",
      ),
      framed,
    };
  }, [script, text]);
  assertEquals(found, { script: "refused", worker: "refused", framed: "opaque" });
});

test("Images, sound, PDF and text are shown, behind a password too", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive("photos");
  await drive.put("trip/picture.png", await png(page), { "Content-Type": "image/png" });
  await drive.put("trip/sound.wav", wav(), { "Content-Type": "audio/wav" });
  await drive.put("trip/paper.pdf", pdf("Hello"), { "Content-Type": "application/pdf" });
  await drive.put("trip/notes.txt", utf8("Grüße"), { "Content-Type": "text/plain" });
  // The page with the form has the status 401. The viewer of PDFs has a policy of its own.
  fixture.observer.allow(/401|CSP|Content Security Policy|Blocked script|^Cookie: kvdrive_link=/);
  const { url } = await makeLink(drive, { prefix: "trip/", password: "geheim" });
  await page.goto(url);
  await page.getByLabel("Password").fill("falsch");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password").fill("geheim");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("link", { name: "picture.png", exact: true }).click();
  await page.getByRole("heading", { name: "picture.png" }).waitFor();
  await poll(page, async () => {
    const width = await page.locator("img").evaluate((image: HTMLImageElement) =>
      image.naturalWidth
    );
    return width === 320;
  });
  await page.getByRole("link", { name: "All files" }).click();
  await page.getByRole("link", { name: "notes.txt", exact: true }).click();
  assertEquals(await page.locator("pre").textContent(), "Grüße");
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  assertEquals((await download).suggestedFilename(), "notes.txt");
  const zip = page.waitForEvent("download");
  await page.getByRole("link", { name: "All files" }).click();
  await page.getByRole("link", { name: "Download all as ZIP" }).click();
  assertEquals((await zip).suggestedFilename(), "trip.zip");
  await page.goto(`${url}?name=sound.wav`);
  assert(page.url().endsWith("preview"), page.url());
  await poll(
    page,
    async () =>
      await page.locator("audio").evaluate((audio: HTMLAudioElement) => audio.readyState >= 2),
  );
  const shown = await page.goto(`${url}?name=paper.pdf`);
  assertEquals(
    shown?.headers()["content-disposition"],
    "inline; filename=\"paper.pdf\"; filename*=UTF-8''paper.pdf",
  );
});

test("A folder is a list or tiles with thumbnails, and a link on a file leads to its page", async (fixture) => {
  const { page, project } = fixture;
  fixture.observer.allow(/CSP|Content Security Policy/);
  const drive = project.drive("photos");
  await fill(page, drive);
  const { url } = await makeLink(drive, { prefix: "trip/" });
  await page.goto(url);
  await page.getByRole("link", { name: "Grid" }).click();
  assertEquals(await page.locator("li img").count(), 1);
  await page.getByRole("link", { name: "day 2/" }).click();
  await page.getByRole("link", { name: "lake.png", exact: true }).click();
  await page.locator("img.view").waitFor();
  await page.getByRole("link", { name: "All files" }).click();
  assertEquals(await page.locator("ul.grid li").count(), 2);
  await page.getByRole("link", { name: "List" }).click();
  assertEquals(await page.locator("ul.grid").count(), 0);
  const one = await makeLink(drive, { name: "trip/notes.txt" });
  await page.goto(one.url);
  await page.getByRole("heading", { name: "notes.txt" }).waitFor();
  assertEquals(await page.locator("pre").textContent(), "Ferry at 9:40.\n");
  await page.getByRole("link", { name: "Open" }).click();
  assert(page.url().endsWith("?inline"), page.url());
  await page.goBack();
});

test("The pages are readable on every screen, and accessible", async (fixture) => {
  const { page, project } = fixture;
  fixture.observer.allow(/401|404|CSP|Content Security Policy/);
  const drive = project.drive("photos");
  await fill(page, drive);
  const folder = await makeLink(drive, { prefix: "trip/" });
  const locked = await makeLink(drive, { prefix: "trip/", password: "x" });
  const pages: [name: string, url: string][] = [
    ["link-folder", folder.url],
    ["link-grid", `${folder.url}?prefix=day 2/&view=grid`],
    ["link-pdf", `${folder.url}?name=day 2/paper.pdf&preview`],
    ["link-preview", `${folder.url}?name=harbour.png&preview`],
    ["link-text", `${folder.url}?name=notes.txt&preview`],
    ["link-document", `${folder.url}?name=${OFFICE_FILE}&preview`],
    ["link-password", locked.url],
    ["link-gone", `${folder.url}?name=none`],
  ];
  // The checks are a script, which the policy of the pages does not allow.
  await page.route("**/s/**", async (route) => {
    const response = await route.fetch();
    const { "content-security-policy": _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
  for (const [name, url] of pages) {
    await page.goto(url);
    await inspect(page, name);
  }
});

test("A long name is cut in a tile, and the types of office programs have names", async (fixture) => {
  const { page, project } = fixture;
  fixture.observer.allow(/CSP|Content Security Policy/);
  const drive = project.drive("photos");
  await drive.put(`trip/${"a long name ".repeat(12)}.txt`, "x");
  await drive.put(`trip/${OFFICE_FILE}`, "x", { "Content-Type": OFFICE_TYPE });
  const { url } = await makeLink(drive, { prefix: "trip/" });
  await page.goto(`${url}?view=grid`);
  const [long, short] = await page.locator("ul.grid .name").all();
  const heightOf = async (one?: Locator) => (await one!.boundingBox())!.height;
  assertLess(await heightOf(long), 3.5 * await heightOf(short));
  await page.goto(`${url}?name=${OFFICE_FILE}&preview`);
  await page.getByText("1 B · Document ·").waitFor();
  assertEquals(await page.locator(".frame use").getAttribute("href"), "#document");
});

const OFFICE_FILE = "report.docx";
const OFFICE_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

async function fill(page: Page, drive: ReturnType<Fixture["project"]["drive"]>): Promise<void> {
  const image = await png(page, 320);
  for (const name of ["beach.png", "harbour.png", "old town.png"]) {
    await drive.put(`trip/${name}`, image, { "Content-Type": "image/png" });
  }
  await drive.put(`trip/${OFFICE_FILE}`, "x", { "Content-Type": OFFICE_TYPE });
  await drive.put("trip/day 2/lake.png", image, { "Content-Type": "image/png" });
  const thumbnail = { body: new Uint8Array(await png(page, 64)) };
  for (const name of ["beach.png", "day 2/lake.png"]) {
    (await drive.send("PUT", `/files/thumbnail${query({ name: `trip/${name}` })}`, thumbnail))
      .expect(200);
  }
  await drive.put("trip/day 2/paper.pdf", pdf("x"), { "Content-Type": "application/pdf" });
  await drive.put("trip/notes.txt", "Ferry at 9:40.\n", { "Content-Type": "text/plain" });
  await drive.put(`trip/${"a long name ".repeat(8)}.txt`, "x", { "Content-Type": "text/plain" });
}

/** The screenshots change with every run, so they are taken on request only. */
const picture = suite("Screenshots of links for the documentation", {
  ignore: Deno.env.get("KVDRIVE_PICTURES") !== "1",
});

/** Bytes of a screenshot. */
const BYTES = 60_000;

picture("Folder, preview, password and dead link", async (fixture) => {
  const { page, project } = fixture;
  fixture.observer.allow(/401|404|CSP|Content Security Policy/);
  const drive = project.drive("photos");
  const image = await png(page, 320);
  for (const name of ["beach.png", "harbour.png", "old town.png", "day 2/lake.png"]) {
    await drive.put(`trip/${name}`, image, { "Content-Type": "image/png" });
  }
  await drive.put("trip/notes.txt", "Ferry at 9:40.\n", { "Content-Type": "text/plain" });
  const folder = (await makeLink(drive, { prefix: "trip/" })).url;
  const locked = (await makeLink(drive, { prefix: "trip/", password: "x" })).url;
  await page.setViewportSize({ ...PHONE, height: 480 });
  const pages = {
    "link-folder": folder,
    "link-preview": `${folder}?name=harbour.png&preview`,
    "link-password": locked,
    "link-gone": `${folder}?name=none`,
  };
  for (const [name, url] of Object.entries(pages)) {
    await page.goto(url);
    const path = fromFileUrl(new URL(`../../docs/${name}.png`, import.meta.url));
    await page.screenshot({ path });
    assertLess((await Deno.stat(path)).size, BYTES);
  }
});
