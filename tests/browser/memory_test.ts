import { assertEquals, assertLess } from "@std/assert";
import type { CDPSession } from "playwright-core";
import type { Fixture } from "./support/fixture.ts";
import { dialog, openSection, signInAsOwner, waitUntilLoaded } from "./support/navigation.ts";
import { pdf, png, wav, webm } from "./support/samples.ts";
import { suite } from "./support/suite.ts";
import { card } from "./support/transfers.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Memory");

/** Rounds before the measurement and within it. */
const WARM_UP = 3;
const ROUNDS = 10;
/** Bytes that the rounds may leave: the browser's compiled code and its records of requests. */
const MAX_GROWTH = 800_000;
/** Nodes and listeners that may be left: the browser frees some late. */
const MAX_LEFT = 30;

interface Figures {
  heap: number;
  nodes: number;
  listeners: number;
}

async function openDevTools({ context, page }: Fixture): Promise<CDPSession> {
  const devTools = await context.newCDPSession(page);
  await devTools.send("Performance.enable");
  return devTools;
}

/** Returns what is in use after garbage collection. */
async function inUse({ page }: Fixture, devTools: CDPSession): Promise<Figures> {
  await waitUntilLoaded(page);
  // Lets the timers of removed elements end.
  await page.waitForTimeout(500);
  for (let i = 0; i < 3; i++) await devTools.send("HeapProfiler.collectGarbage");
  const { metrics } = await devTools.send("Performance.getMetrics");
  const figure = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
  return {
    heap: figure("JSHeapUsedSize"),
    nodes: figure("Nodes"),
    listeners: figure("JSEventListeners"),
  };
}

/** Asserts that many rounds leave nothing after the first ones. */
async function assertNoGrowth(
  fixture: Fixture,
  devTools: CDPSession,
  round: () => Promise<void>,
): Promise<void> {
  for (let i = 0; i < WARM_UP; i++) await round();
  const before = await inUse(fixture, devTools);
  for (let i = 0; i < ROUNDS; i++) await round();
  const after = await inUse(fixture, devTools);
  assertLess(after.heap - before.heap, MAX_GROWTH);
  assertLess(after.nodes - before.nodes, MAX_LEFT);
  assertLess(after.listeners - before.listeners, MAX_LEFT);
}

/** Stores a file of each kind of preview. Returns their names. */
async function putKinds({ project, page }: Fixture): Promise<string[]> {
  const contents: Record<string, Uint8Array<ArrayBuffer> | string> = {
    "image.png": await png(page),
    "drawing.svg":
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9"/></svg>',
    "sound.wav": wav(),
    "film.webm": await webm(page),
    "paper.pdf": pdf("The paper"),
    "notes.md": "# Notes\n\n* one\n* two\n",
    "data.json": '{"list":[1,2,{"three":3}]}',
    "table.csv": "name,place\n".repeat(50),
    "code.ts": "let line = 1;\n".repeat(200),
    "bytes.bin": new Uint8Array(3000).fill(1),
  };
  for (const [name, content] of Object.entries(contents)) {
    await project.drive("kinds").put(name, content);
  }
  return Object.keys(contents);
}

async function preview({ page }: Fixture, name: string): Promise<void> {
  await entry(page, name).dblclick();
  const shown = dialog(page, name);
  const content = shown.locator(
    ".zoom-area img, video, audio, iframe, [aria-label=Content]",
  );
  await content.first().waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  await shown.waitFor({ state: "detached" });
}

test("Previews leave nothing when they are closed.", async (fixture) => {
  const names = await putKinds(fixture);
  await signInAsOwner(fixture);
  const devTools = await openDevTools(fixture);
  await openFolder(fixture, "kinds");
  const round = async () => {
    for (const name of names) await preview(fixture, name);
  };
  await assertNoGrowth(fixture, devTools, round);
});

test("Sections and folders leave nothing, and the cache of the browser is opened once.", async (fixture) => {
  const { page, project } = fixture;
  await page.addInitScript(() => {
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function (...parameters) {
      const { dataset } = document.documentElement;
      dataset["opened"] = String(Number(dataset["opened"] ?? 0) + 1);
      return open.apply(this, parameters);
    };
  });
  for (const folder of ["one", "two"]) await project.drive("docs").put(`${folder}/a.txt`, "a");
  await signInAsOwner(fixture);
  const devTools = await openDevTools(fixture);
  const round = async () => {
    for (const folder of ["one", "two"]) {
      await openFolder(fixture, "docs", folder);
      await entry(page, "a.txt").waitFor();
    }
    for (const section of ["Links", "Trash", "Keys", "Usage", "Activity", "Settings"] as const) {
      await openSection(page, section);
    }
  };
  await assertNoGrowth(fixture, devTools, round);
  const opened = await page.evaluate(() => document.documentElement.dataset["opened"]);
  assertEquals(opened, "1");
});

test("A file that was sent is not held in memory while the list of uploads is open.", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("docs").put("a.txt", "a");
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(page, "a.txt").waitFor();
  const references = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    for (const name of ["b.txt", "c.txt"]) data.items.add(new File(["pasted"], name));
    const references = Array.from(data.files, (file) => new WeakRef(file));
    document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true }));
    return references;
  });
  await card(page).getByText("2 uploads done").waitFor();
  const devTools = await openDevTools(fixture);
  await inUse(fixture, devTools);
  const held = await references.evaluate((all) => all.filter((one) => one.deref()).length);
  assertEquals(held, 0);
});
