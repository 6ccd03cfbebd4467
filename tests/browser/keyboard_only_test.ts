import { Buffer } from "node:buffer";
import { assertLess } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { dialog, row } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";

const test = suite("With the keyboard alone", { args: ["--allow-webhook", "127.0.0.1"] });

/** More elements than any page has that Tab stops at. */
const MAX_TABS = 80;

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  const focused = element.and(page.locator(":focus"));
  for (let presses = 0; await focused.count() === 0; presses++) {
    assertLess(presses, MAX_TABS, `Tab does not reach ${element}`);
    await page.keyboard.press("Tab");
  }
}

test("Files are uploaded, shown, shared, deleted and restored, and webhooks are made", async (fixture) => {
  const { page, project, server } = fixture;
  await project.call("PATCH", "", { body: { trash_days: 7, change_days: 7 } });
  const { keyboard } = page;
  const press = async (element: Locator) => {
    await tabTo(page, element);
    await keyboard.press("Enter");
  };
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const section = (name: string) =>
    page.getByRole("navigation", { name: "Project" }).getByRole("link", { name });

  await page.goto(server.origin);
  await page.locator("input:focus").waitFor();
  await keyboard.type(project.key);
  await keyboard.press("Enter");

  await press(button("New drive"));
  await page.locator("dialog input:focus").waitFor();
  await keyboard.type("docs");
  await keyboard.press("Enter");

  await press(button("Upload"));
  await page.locator("[role=menuitem]:focus").waitFor();
  const input = page.waitForEvent("filechooser");
  await keyboard.press("Enter");
  await (await input).setFiles([
    { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("content") },
  ]);

  const file = page.getByRole("row", { name: "a.txt" });
  await tabTo(page, file);
  await keyboard.press("Space");
  await dialog(page, "a.txt").getByText("content").waitFor();
  await keyboard.press("Escape");
  await dialog(page, "a.txt").waitFor({ state: "detached" });
  await file.and(page.locator(":focus")).waitFor();

  await keyboard.press("Shift+F10");
  await page.locator("[role=menuitem]:focus").waitFor();
  await keyboard.press("s");
  await keyboard.press("Enter");
  const share = dialog(page, "Share “a.txt”");
  await press(share.getByRole("button", { name: "Create link" }));
  await press(share.getByRole("button", { name: "Revoke link" }));
  await press(
    dialog(page, "Revoke this link?").getByRole("button", { name: "Revoke", exact: true }),
  );
  await share.getByRole("list", { name: "Links" }).waitFor({ state: "detached" });
  await keyboard.press("Escape");
  await share.waitFor({ state: "detached" });
  await file.and(page.locator(":focus")).waitFor();

  await keyboard.press("Delete");
  await file.waitFor({ state: "detached" });
  await press(section("Trash"));
  await press(button("Restore a.txt"));
  await page.getByText("Restored 1 file").waitFor();

  await press(section("Webhooks"));
  await press(button("New webhook"));
  await page.locator("dialog input:focus").waitFor();
  await keyboard.type("index");
  await keyboard.press("Tab");
  await keyboard.type("http://127.0.0.1:9/hook");
  await keyboard.press("Enter");
  const created = dialog(page, "Created the webhook “index”");
  await press(created.getByRole("button", { name: "Done" }));
  await row(page, /^index/).waitFor();
  await press(button("Delete index"));
  await press(
    dialog(page, "Delete “index”?").getByRole("button", { name: "Delete webhook" }),
  );
  await page.getByText("No webhooks").waitFor();
});
