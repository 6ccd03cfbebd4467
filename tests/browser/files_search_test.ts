import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import type { Fixture } from "./support/fixture.ts";
import { dialog, row, signInAsOwner } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, labels, openFolder } from "./support/uploads.ts";

const test = suite("Finding files");

async function open(fixture: Fixture): Promise<Page> {
  const drive = fixture.project.drive("papers");
  for (
    const name of [
      "2025/Invoice 12.pdf",
      "2026/invoice 3.pdf",
      "2026/photo of the invoice.jpg",
      "2026/letter.txt",
      "invoices/readme.md",
      "notes.md",
    ]
  ) await drive.put(name, "x".repeat(name === "notes.md" ? 2_000_000 : 10));
  await signInAsOwner(fixture);
  await openFolder(fixture, "papers", "2026");
  await entry(fixture.page, "letter.txt").waitFor();
  return fixture.page;
}

test("A search finds names in the whole drive, whatever their case, with their folder", async (fixture) => {
  const page = await open(fixture);
  await page.getByRole("searchbox").fill("INVOICE");
  await entry(page, "Invoice 12.pdf").waitFor();
  assertEquals(await labels(page), [
    "invoice 3.pdf",
    "Invoice 12.pdf",
    "photo of the invoice.jpg",
    "readme.md",
  ]);
  assertEquals(await entry(page, "photo of the invoice.jpg").locator("mark").allTextContents(), [
    "invoice",
  ]);
  await page.getByText("4 hits").waitFor();
  // On a phone, the folder and the size are one line.
  const line = await entry(page, "Invoice 12.pdf").locator(".entry-meta").textContent();
  assertEquals(line?.startsWith("2025 · 10 B · "), true);
  await inspect(page, "search");
  await entry(page, "Invoice 12.pdf").getByRole("link", { name: "2025" }).first().click();
  await page.getByRole("heading", { name: "2025" }).waitFor();
  await entry(page, "Invoice 12.pdf").waitFor();
  assertEquals(await labels(page), ["Invoice 12.pdf"]);
});

test("The search is in the address: Back ends it, a reload keeps it", async (fixture) => {
  const page = await open(fixture);
  await page.getByRole("searchbox").fill("notes");
  await entry(page, "notes.md").waitFor();
  await page.reload();
  await entry(page, "notes.md").waitFor();
  assertEquals(await page.getByRole("searchbox").inputValue(), "notes");
  await page.goBack();
  await entry(page, "letter.txt").waitFor();
  assertEquals(await page.getByRole("searchbox").inputValue(), "");
});

test("Typing asks once, and an earlier search is cancelled", async (fixture) => {
  // A hint, such as the first one, lets the page ask again.
  await fixture.page.route("**/hints?*", () => {});
  const page = await open(fixture);
  const asked: string[] = [];
  page.on("request", (request) => {
    const text = new URL(request.url()).searchParams.get("contains");
    if (text !== null) asked.push(text);
  });
  await page.getByRole("searchbox").pressSequentially("letter", { delay: 20 });
  await entry(page, "letter.txt").waitFor();
  await page.getByText("1 hit").waitFor();
  assertEquals(asked, ["letter"]);
});

test("No hit is said, and clearing shows the folder again", async (fixture) => {
  const page = await open(fixture);
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByText("No name contains “nothing like it”").waitFor();
  await inspect(page, "search-none");
  await page.getByRole("button", { name: "Close the search" }).click();
  await entry(page, "letter.txt").waitFor();
});

test("Filters narrow the folder and the search", async (fixture) => {
  const page = await open(fixture);
  const filters = page.getByRole("group", { name: "Filters" });
  await filters.getByRole("button", { name: "Kind" }).click();
  await page.getByRole("menuitemradio", { name: "Images" }).click();
  await entry(page, "letter.txt").waitFor({ state: "detached" });
  assertEquals(await labels(page), ["photo of the invoice.jpg"]);
  await filters.getByRole("button", { name: "Size" }).click();
  await page.getByRole("menuitemradio", { name: "Over 1 MB" }).click();
  await page.getByText("Nothing matches these filters").waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  assertEquals((await labels(page)).length, 3);
  await page.getByRole("searchbox").fill("e");
  await entry(page, "notes.md").waitFor();
  await filters.getByRole("button", { name: "Size" }).click();
  await page.getByRole("menuitemradio", { name: "Over 1 MB" }).click();
  await entry(page, "letter.txt").waitFor({ state: "detached" });
  assertEquals(await labels(page), ["notes.md"]);
});

test("One search looks through all drives of the project", async (fixture) => {
  const { project } = fixture;
  await project.drive("photos").put("trip/Trip invoice.jpg", "x");
  const page = await open(fixture);
  await page.getByRole("searchbox").fill("invoice of nothing");
  await page.getByRole("button", { name: "Search in all drives" }).click();
  await page.getByText("All drives of the project were searched.").waitFor();
  await page.getByRole("searchbox", { name: "Search in all drives" }).fill("INVOICE");
  const hit = row(page, "Trip invoice.jpg");
  await hit.getByText("photos").waitFor();
  await row(page, "Invoice 12.pdf").getByText("papers").waitFor();
  await page.getByText("5 hits").waitFor();
  await inspect(page, "search-all-drives");
  await hit.getByRole("link", { name: "Trip invoice.jpg" }).click();
  await dialog(page, "Trip invoice.jpg").waitFor();
  await page.goBack();
  await hit.waitFor();
});
