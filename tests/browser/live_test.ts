import { assertEquals, assertLess } from "@std/assert";
import { delay } from "@std/async/delay";
import type { Page } from "playwright-core";
import type { Fixture } from "./support/fixture.ts";
import { openSection, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Lists that follow others");

/** What a change of another caller may take to show, in milliseconds, with room for a busy machine. */
const SHOWN = 30_000;

/** Opens a drive with some files, and waits until the page follows it. */
async function open(fixture: Fixture, names: string[]): Promise<Page> {
  const { page, project } = fixture;
  await project.drive("docs").putAll(names);
  await signInAsOwner(fixture);
  const following = page.waitForResponse(/\/hints\?drive=docs/);
  await openFolder(fixture, "docs");
  await following;
  await entry(page, names[0] ?? "").waitFor();
  return page;
}

test("What others do shows, and disturbs nothing", async (fixture) => {
  const many = Array.from({ length: 200 }, (_, at) => `f${1000 + at}.txt`);
  const page = await open(fixture, many);
  const docs = fixture.project.drive("docs");
  await entry(page, "f1003.txt").click();
  const grid = page.getByRole("grid");
  await grid.evaluate((element) => element.scrollTop = 3000);
  const seen = entry(page, "f1090.txt");
  await seen.click();
  const place = await seen.boundingBox();
  await page.keyboard.press("F2");
  await page.keyboard.type("half a na");
  await docs.putAll(["a.txt", "b.txt"]);
  await page.getByText("202 items").waitFor({ timeout: SHOWN });
  assertEquals(await seen.boundingBox(), place);
  await page.keyboard.type("me");
  await page.keyboard.press("Enter");
  await entry(page, "half a name.txt").waitFor();
  assertEquals(await docs.names({ prefix: "half" }), ["half a name.txt"]);
  await docs.delete(["a.txt"]);
  await page.getByText("201 items").waitFor({ timeout: SHOWN });
  // The same size, another content.
  await docs.put("b.txt", "bb");
  await grid.evaluate((element) => element.scrollTop = 0);
  await entry(page, "b.txt").getByText("2 B", { exact: true }).waitFor({ timeout: SHOWN });
  // An open menu stays open.
  await entry(page, "b.txt").click({ button: "right" });
  await docs.put("c.txt", "c");
  await entry(page, "c.txt").waitFor({ timeout: SHOWN });
  assertEquals(await page.getByRole("menu").isVisible(), true);
});

test("Uploads, links and the trash follow, too", async (fixture) => {
  const { page, project } = fixture;
  await project.call("PATCH", "", { body: { trash_days: 30 } });
  await open(fixture, ["a.txt"]);
  const docs = project.drive("docs");
  await openSection(page, "Uploads");
  await page.getByText("No uploads").waitFor();
  (await docs.send("POST", "/uploads?name=large.bin")).expect(202);
  await page.getByRole("rowheader", { name: "large.bin" }).waitFor({ timeout: SHOWN });
  await openSection(page, "Links");
  await page.getByText("Nothing is shared").waitFor();
  (await docs.send("POST", "/links", { body: JSON.stringify({ name: "a.txt" }) })).expect(201);
  await page.getByRole("rowheader", { name: "a.txt" }).waitFor({ timeout: SHOWN });
  await openSection(page, "Trash");
  await page.getByText("The trash is empty").waitFor();
  await docs.delete(["a.txt"]);
  await page.getByRole("row", { name: "a.txt" }).waitFor({ timeout: SHOWN });
});

test("A list that changes all the time is read at most once a second", async (fixture) => {
  const page = await open(fixture, ["a.txt"]);
  const docs = fixture.project.drive("docs");
  let reads = 0;
  page.on("request", (request) => {
    if (/docs\/files\?/.test(request.url())) reads++;
  });
  const began = Date.now();
  let written = 0;
  // Fewer than a thousand, whose number has no comma.
  for (; Date.now() - began < 2500; await delay(5)) await docs.put(`n${written++}.txt`, "n");
  await page.getByText(`${written + 1} items`).waitFor({ timeout: SHOWN });
  assertLess(reads, (Date.now() - began) / 1000 + 2);
});
