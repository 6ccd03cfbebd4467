import { assert, assertEquals, assertLess } from "@std/assert";
import { Buffer } from "node:buffer";
import { ADMIN_TOKEN, administer, ADMINISTERED } from "../support/admin.ts";
import { TestServer } from "../support/server.ts";
import { DESKTOP, type Fixture, PHONE } from "./support/fixture.ts";
import {
  secretField,
  signInAsAdministrator,
  signInAsOwner,
  submitSecret,
} from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";

const test = suite("Signing in");

/** The refused call prints a line. */
const REFUSED = /status of 401/;

function main({ page }: Fixture) {
  return page.getByRole("heading", { level: 1, name: "Files" });
}

async function chooseInMenu({ page }: Fixture, name: string): Promise<void> {
  await page.getByRole("complementary").getByRole("button", { name: /Key|Administrator/ }).click();
  await page.getByRole("menuitem", { name }).click();
}

test("The page looks right.", async ({ page, server }) => {
  await page.goto(server.origin);
  await secretField(page).waitFor();
  await inspect(page, "sign-in");
});

test("Whoever signs in first lands where a file can be dropped.", async ({ page }) => {
  await using server = await TestServer.start(ADMINISTERED);
  await page.goto(server.origin);
  await submitSecret(page, ADMIN_TOKEN);
  await page.getByText("Drop files or folders here").waitFor();
  // All of it can be reached on a phone, above the number of files.
  await page.setViewportSize(PHONE);
  const last = page.getByRole("list", { name: "Other ways to connect" }).getByRole("link").last();
  await last.click({ trial: true });
  const foot = await page.getByText("0 items").boundingBox();
  const { y, height } = (await last.boundingBox())!;
  assertLess(y + height, foot!.y);
  await page.setViewportSize(DESKTOP);
  const input = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("menuitem", { name: "Files" }).click();
  const files = { name: "first.txt", mimeType: "text/plain", buffer: Buffer.from("1") };
  await (await input).setFiles([files]);
  await page.getByRole("row", { name: "first.txt" }).waitFor();
  // The page still asks for what is new, and the server ends before it.
  await page.goto("about:blank");
});

test("A wrong key is refused beside its field, and a right one opens the files of its project.", async (fixture) => {
  const { page, server, project, observer } = fixture;
  observer.allow(REFUSED);
  await page.goto(server.origin);
  await submitSecret(page, "");
  await page.getByText("Enter the administrator’s token or a project key").waitFor();
  await submitSecret(page, "wrong key");
  await page.getByText("Tokens and keys contain neither spaces nor accented letters").waitFor();
  await submitSecret(page, "wrong_key");
  await page.getByText("This is neither the administrator’s token nor a key").waitFor();
  assertEquals(await secretField(page).getAttribute("aria-invalid"), "true");
  await submitSecret(page, project.key);
  await main(fixture).waitFor();
  assertEquals(await page.getByText("Photo album").first().isVisible(), true);
});

test("A new tab is signed in, and no script can read the cookie.", async (fixture) => {
  const { page, context, server } = fixture;
  await signInAsOwner(fixture);
  await main(fixture).waitFor();
  const tab = await context.newPage();
  await tab.goto(server.origin);
  await tab.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  await page.reload();
  await main(fixture).waitFor();
  assertEquals(await page.evaluate(() => document.cookie), "");
  const [cookie] = await context.cookies();
  assertEquals([cookie?.httpOnly, cookie?.sameSite], [true, "Strict"]);
});

test("A visit through a link of another site is signed in as well.", async (fixture) => {
  const { page, server, context } = fixture;
  await signInAsOwner(fixture);
  await main(fixture).waitFor();
  await context.route(
    "http://other.example/",
    (route) =>
      route.fulfill({ contentType: "text/html", body: `<a href="${server.origin}/">go</a>` }),
  );
  await page.goto("http://other.example/");
  await page.getByRole("link", { name: "go" }).click();
  await main(fixture).waitFor();
});

test("Signing out ends the session here, and everywhere if asked.", async (fixture) => {
  const { page, context, server, observer } = fixture;
  observer.allow(REFUSED);
  await signInAsOwner(fixture);
  await main(fixture).waitFor();
  await chooseInMenu(fixture, "Sign out");
  await secretField(page).waitFor();
  assertEquals((await context.cookies()).filter(({ value }) => value !== ""), []);

  await signInAsOwner(fixture);
  await main(fixture).waitFor();
  const other = await context.browser()?.newContext();
  assert(other !== undefined);
  const tab = await other.newPage();
  await tab.goto(server.origin);
  await submitSecret(tab, fixture.project.key);
  await tab.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  await chooseInMenu(fixture, "Sessions");
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  await page.getByRole("rowheader").nth(1).waitFor();
  assertEquals(await page.getByRole("rowheader").count(), 2);
  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Files" })
    .waitFor();
  await inspect(page, "sessions");
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await secretField(page).waitFor();
  await tab.reload();
  await secretField(tab).waitFor();
  await other.close();
});

test("A revoked key signs its sessions out, with the reason.", async (fixture) => {
  const { page, project, server, observer } = fixture;
  observer.allow(REFUSED);
  await signInAsOwner(fixture);
  await main(fixture).waitFor();
  const [key] = await project.keys();
  await project.call("DELETE", `/keys/${key?.prefix}`);
  // Not with a click: the page may have noticed by itself.
  await page.goto(`${server.origin}/#/p/${project.id}/links`);
  await secretField(page).waitFor();
  assert((await page.getByRole("main").innerText()).length > 80, "the reason is missing");
});

test("A tab whose session ended in another tab says so.", async (fixture) => {
  const { page, context, server, observer } = fixture;
  observer.allow(REFUSED);
  await signInAsOwner(fixture);
  await main(fixture).waitFor();
  const other = fixture.withPage(await context.newPage());
  await other.page.goto(server.origin);
  await main(other).waitFor();
  await chooseInMenu(other, "Sign out");
  await secretField(other.page).waitFor();
  await secretField(page).waitFor();
  await page.getByText("You signed out in another tab.").waitFor();
});

test("A sign-in page that is older than the server's files signs in.", async (fixture) => {
  const { page, context, server, project, observer } = fixture;
  observer.allow(/status of 404/);
  await page.goto(server.origin);
  await context.route(
    /assets\/main-[^.]+\.js/,
    (route) => route.fulfill({ status: 404 }),
    { times: 1 },
  );
  await submitSecret(page, project.key);
  await main(fixture).waitFor();
});

test("A session that is found only after the sign-in does not clear the page.", async (fixture) => {
  const { page, context, server, project } = fixture;
  const isIn = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let calls = 0;
  await page.route("**/dashboard/session", async (route) => {
    if (calls++ > 0) return await route.continue();
    await isIn.promise;
    const response = await context.request.get(`${server.origin}/dashboard/session`);
    await route.fulfill({ response });
    answered.resolve();
  });
  await page.goto(server.origin);
  await submitSecret(page, project.key);
  await main(fixture).waitFor();
  isIn.resolve();
  await answered.promise;
  await page.waitForTimeout(200);
  assertEquals(await main(fixture).count(), 1);
});

test("A code in the address signs in once, and leaves the address.", async (fixture) => {
  const { page, server, observer, context } = fixture;
  observer.allow(REFUSED);
  const answer = await administer(server, "POST", "/admin/v1/sign-in-codes");
  const { code } = answer.expect(201).json as { code: string };
  await page.goto(`${server.origin}/#code=${code}`);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  assert(!page.url().includes(code));
  const other = await context.browser()?.newContext();
  const tab = await other?.newPage();
  assert(tab !== undefined);
  await tab.goto(`${server.origin}/#code=${code}`);
  await tab.getByText("This sign-in link was used already, or has expired").waitFor();
  await other?.close();
});

test("The administrator's token opens all projects.", async (fixture) => {
  const { page, project } = fixture;
  await signInAsAdministrator(fixture);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("link", { name: new RegExp(project.id) }).first().click();
  await main(fixture).waitFor();
  assert(!(await page.content()).includes(ADMIN_TOKEN));
});
