import { assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { makeLink } from "../support/sharing/links.ts";
import { dialog, openSection, row, signInAsOwner } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Sharing in the dashboard");

test("A file is shared with limits, marked, changed and revoked.", async (fixture) => {
  const { page, project, server } = fixture;
  await project.drive("docs").put("a.txt", "content of a.txt");
  await signInAsOwner(fixture);
  await openFolder(fixture, "docs");
  await entry(page, "a.txt").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Share…" }).click();
  const share = dialog(page, "Share “a.txt”");
  await share.getByLabel("Limit of downloads").fill("none");
  await share.getByText("Enter a whole number from 1").waitFor();
  await share.getByLabel("Limit of downloads").fill("5");
  await share.getByLabel("Password").fill("secret of the link");
  await share.getByLabel("Password").press("Enter");
  await share.getByText("0 of 5 downloads").waitFor();
  await inspect(page, "share-dialog");
  const url = await fixture.clipboard();
  assertStringIncludes(url, `${server.origin}/s/`);
  const refused = await fetch(url);
  await refused.body?.cancel();
  assertEquals(refused.status, 401);
  const opened = await fetch(url, {
    headers: { Authorization: `Basic ${btoa(":secret of the link")}` },
  });
  assertEquals(await opened.text(), "content of a.txt");
  await share.getByRole("button", { name: "Change link" }).click();
  const change = dialog(page, "Change link");
  assertEquals(await change.getByLabel("Limit of downloads").inputValue(), "5");
  await inspect(page, "change-link");
  await change.getByLabel("Limit of downloads").fill("");
  await change.getByLabel("Remove the password").check();
  await change.getByLabel("Expires").selectOption("Never");
  await change.getByRole("button", { name: "Save" }).click();
  await share.getByText("Never expires · 1 download", { exact: true }).waitFor();
  assertEquals(await (await fetch(url)).text(), "content of a.txt");
  await share.getByRole("button", { name: "Revoke link" }).click();
  await dialog(page, "Revoke this link?").getByRole("button", { name: "Cancel" }).click();
  await share.getByRole("button", { name: "Close" }).click();
  await entry(page, "a.txt").getByRole("img", { name: "Shared with a link" }).waitFor();
  await openSection(page, "Links");
  await row(page, "a.txt").waitFor();
  await inspect(page, "links");
  await page.getByRole("button", { name: "Change link to a.txt" }).click();
  await change.getByLabel("Limit of downloads").fill("3");
  await change.getByLabel("Limit of downloads").press("Enter");
  await row(page, "a.txt").getByText("Never expires · 2 of 3 downloads").waitFor();
  await page.getByRole("button", { name: "Revoke link to a.txt" }).click();
  await dialog(page, "Revoke this link?").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Nothing is shared").waitFor();
  const gone = await fetch(url);
  await gone.body?.cancel();
  assertEquals(gone.status, 404);
});

test("On a tablet, names of links of several drives have most of the table", async (fixture) => {
  const { page, project } = fixture;
  for (const name of ["photos", "contracts-and-invoices"]) {
    const drive = project.drive(name);
    await drive.put("invoice-number-2026-000123.pdf", "x");
    await makeLink(drive, { name: "invoice-number-2026-000123.pdf", max_downloads: 10 });
  }
  await page.setViewportSize({ width: 768, height: 1024 });
  await signInAsOwner(fixture);
  await openSection(page, "Links");
  const name = page.getByRole("rowheader", { name: "contracts-and-invoices" });
  const table = await page.locator(".table").boundingBox();
  assertLess(table!.width / 3, (await name.boundingBox())!.width);
  await inspect(page, "links-drives");
});
