import { assertEquals, assertMatch } from "@std/assert";
import { dialog, openSection, row, signInAsOwner } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";

const test = suite("Activity");

test("Events have the names of keys and links, and are searched by them", async (fixture) => {
  const { page, project } = fixture;
  const photos = project.drive("photos");
  await photos.put("cat.jpg", "meow");
  await photos.send("POST", "/links", { body: JSON.stringify({ name: "cat.jpg" }) });
  await project.makeKey({ name: "backup of the office" });
  await signInAsOwner(fixture);
  await openSection(page, "Activity");
  await row(page, "Key created: backup of the office").waitFor();
  const link = row(page, "Link created: photos/cat.jpg");
  await link.waitFor();
  await page.getByRole("searchbox").fill("CAT.jpg");
  await row(page, /Key created/).first().waitFor({ state: "detached" });
  await link.waitFor();
  await page.reload();
  await link.waitFor();
  assertEquals(await page.getByRole("searchbox").inputValue(), "CAT.jpg");
  await page.getByLabel("Kind").selectOption("Keys");
  await page.getByText("No event matches").waitFor();
  assertMatch(page.url(), /\?q=CAT.jpg&kind=keys$/);
  await page.getByRole("searchbox").fill("");
  await row(page, "Key created: backup of the office").waitFor();
  assertEquals(await link.count(), 0);
});

test("Activity shows what happened to files, once the project keeps it", async (fixture) => {
  const { page, project } = fixture;
  const photos = project.drive("photos");
  await photos.put("before.txt", "x");
  await signInAsOwner(fixture);
  await openSection(page, "Activity");
  await page.getByRole("navigation", { name: "Activity" }).getByRole("link", { name: "Files" })
    .click();
  await page.getByText("Changes of files are not kept").waitFor();
  await page.getByLabel("Kept for").selectOption("7 days");
  await page.getByText("Nothing has happened yet").waitFor();
  await photos.put("trip/cat.jpg", "meow");
  await photos.delete(["before.txt"]);
  await project.drive("papers").put("letter.txt", "Dear");
  await row(page, "trip/cat.jpg").getByText("Stored").waitFor();
  await row(page, "before.txt").getByText("Deleted").waitFor();
  await row(page, "letter.txt").waitFor();
  await inspect(page, "file-activity");
  await page.getByLabel("Drive").selectOption("photos");
  await row(page, "letter.txt").waitFor({ state: "detached" });
  await page.getByLabel("What happened").selectOption("Stored");
  await row(page, "before.txt").waitFor({ state: "detached" });
  await row(page, "trip/cat.jpg").getByRole("link").click();
  await dialog(page, "cat.jpg").waitFor();
  await page.goBack();
  await page.getByLabel("Kept for").selectOption("Off");
  await dialog(page, /Keep no changes/).getByRole("button", { name: "Turn off" }).click();
  await page.getByText("Changes of files are not kept").waitFor();
});
