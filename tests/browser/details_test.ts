import { assertEquals } from "@std/assert";
import { signInAsOwner } from "./support/navigation.ts";
import { DRIVE } from "./support/previews.ts";
import { png } from "./support/samples.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder, waitUntil } from "./support/uploads.ts";

const test = suite("Details");

test("The details of a file are shown and changed", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive(DRIVE);
  await drive.put("trip/letter.txt", "Hello");
  await signInAsOwner(fixture);
  await openFolder(fixture, DRIVE, "trip");
  await page.getByRole("button", { name: "Details" }).click();
  const panel = page.getByRole("region", { name: "Details" });
  await entry(page, "letter.txt").click();
  const digest = panel.getByLabel("SHA-256", { exact: true });
  assertEquals(
    await digest.textContent(),
    "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969",
  );
  assertEquals(await panel.getByLabel("Path", { exact: true }).textContent(), "trip/letter.txt");
  await panel.getByRole("button", { name: "Change the expiry" }).click();
  await page.getByRole("menuitemradio", { name: "In 7 days" }).click();
  await panel.getByText("in 7 days").waitFor();
  const [found] = await drive.details();
  const days = (Date.parse(found?.expires ?? "") - Date.now()) / 86_400_000;
  assertEquals(Math.round(days), 7);
  await panel.getByRole("button", { name: "Change the expiry" }).click();
  await page.getByRole("menuitemradio", { name: "Never" }).click();
  await waitUntil(async () => (await drive.details())[0]?.expires === undefined, "no expiry");
  await panel.getByRole("button", { name: "Change the content type" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the content type" });
  await dialog.getByLabel("Content type").fill("nonsense");
  await dialog.getByRole("button", { name: "Change" }).click();
  await dialog.getByText("A content type looks like image/png").waitFor();
  await dialog.getByLabel("Content type").fill("text/markdown");
  await dialog.getByRole("button", { name: "Change" }).click();
  await panel.getByText("text/markdown").waitFor();
  assertEquals((await drive.details())[0]?.content_type, "text/markdown");
  await panel.getByRole("button", { name: "Share" }).click();
  await page.getByRole("button", { name: /Create link/ }).click();
  await page.keyboard.press("Escape");
  await panel.getByRole("list", { name: "Links" }).getByRole("listitem").waitFor();
  await panel.getByRole("button", { name: "Copy download with curl" }).click();
  await waitUntil(async () => (await fixture.clipboard()).includes("trip%2Fletter.txt"), "copying");
  await panel.getByRole("button", { name: "Close details" }).click();
  await panel.waitFor({ state: "detached" });
});

test("The size of folders is counted by itself", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive(DRIVE);
  for (let index = 0; index < 12; index++) await drive.put(`trip/${index}/a.txt`, "x".repeat(100));
  await drive.put("b.txt", "x".repeat(50));
  await signInAsOwner(fixture);
  await openFolder(fixture, DRIVE);
  await page.getByRole("button", { name: "Details" }).click();
  const panel = page.getByRole("region", { name: "Details" });
  await panel.getByText("1.3 kB, 13 files").waitFor();
  await entry(page, "trip").click();
  await panel.getByText("1.2 kB, 12 files").waitFor();
  await entry(page, "b.txt").click({ modifiers: ["Control"] });
  await panel.getByText("2 items selected").waitFor();
  await panel.getByText("1 file, 50 B").waitFor();
});

test("The panel is as wide as a wide picture and a long line allow", async (fixture) => {
  const { page, project } = fixture;
  await project.drive(DRIVE).put("wide.png", await png(page, 1600), {
    "Content-Type": "image/png",
  });
  await signInAsOwner(fixture);
  await openFolder(fixture, DRIVE);
  await page.getByRole("button", { name: "Details" }).click();
  await entry(page, "wide.png").click();
  const panel = page.getByRole("region", { name: "Details" });
  await panel.locator("img").waitFor();
  await panel.getByRole("button", { name: "Copy download with curl" }).waitFor();
  for (const width of [1280, 900, 360]) {
    await page.setViewportSize({ width, height: 800 });
    const hidden = await panel.evaluate((panel) => panel.scrollWidth - panel.clientWidth);
    assertEquals(hidden, 0, `at ${width}`);
  }
});
