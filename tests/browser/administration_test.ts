import { assert, assertEquals } from "@std/assert";
import { ADMIN_TOKEN, administer } from "../support/admin.ts";
import { s3Of } from "../support/s3/s3_server.ts";
import {
  dialog,
  openSection,
  row,
  signInAsAdministrator,
  signInAsOwner,
  submitSecret,
} from "./support/navigation.ts";
import type { Fixture } from "./support/fixture.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";

const test = suite("Administration", { args: ["--s3-port", "0"] });

async function openProject(fixture: Fixture): Promise<void> {
  await signInAsAdministrator(fixture);
  const { page, project } = fixture;
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("link", { name: new RegExp(project.id) }).first().click();
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
}

test("A project is created with its key shown once, and deleted after its id was typed.", async (fixture) => {
  const { page, server } = fixture;
  await signInAsAdministrator(fixture);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await inspect(page, "projects");
  await page.getByRole("button", { name: "New project" }).click();
  const form = dialog(page, "New project");
  await form.getByRole("textbox", { name: "Name" }).fill("Holidays");
  await form.getByRole("textbox", { name: "Id" }).fill("holidays");
  await form.getByRole("textbox", { name: "Limit of space" }).fill("ten");
  await form.getByText("Enter a size such as 10 GB, or nothing").first().waitFor();
  await form.getByRole("textbox", { name: "Limit of space" }).fill("10 GB");
  assert(await form.getByRole("checkbox", { name: "Trash" }).isChecked());
  await form.getByRole("textbox", { name: "Days to keep deleted files" }).fill("0");
  await form.getByText("Enter a whole number from 1 to 365").waitFor();
  await form.getByRole("textbox", { name: "Days to keep deleted files" }).fill("14");
  await inspect(page, "new-project");
  await form.getByRole("button", { name: "Create project" }).click();
  const created = dialog(page, "Created “Holidays”");
  const key = await created.getByLabel("Project key", { exact: true }).innerText();
  const answer = await fetch(`${server.origin}/v1/holidays`, { headers: { "X-Api-Key": key } });
  assertEquals([answer.status, (await answer.json()).drives], [200, []]);
  await created.getByRole("button", { name: "Done" }).click();
  // The first upload makes the drive.
  await page.getByText("Drop files or folders here").waitFor();
  await page.getByRole("list", { name: "Other ways to connect" }).getByText("Network folder")
    .waitFor();
  await inspect(page, "first-drive");
  await openSection(page, "Settings");
  assertEquals(
    await page.getByRole("textbox", { name: "Days to keep deleted files" }).inputValue(),
    "14",
  );
  await page.getByRole("textbox", { name: "Name" }).fill("Vacations");
  await page.getByRole("region", { name: "Project" }).getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved").first().waitFor();
  await page.getByRole("button", { name: "Delete project…" }).click();
  const question = dialog(page, "Delete this project?");
  await question.getByRole("button", { name: "Delete project" }).click();
  await question.getByText("Type “holidays” to confirm").waitFor();
  await question.getByRole("textbox").fill("holidays");
  await question.getByRole("button", { name: "Delete project" }).click();
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await row(page, /Holidays|Vacations/).waitFor({ state: "detached" });
});

test("Keys are made with fewer rights, shown in words, and revoked.", async (fixture) => {
  const { page, project, server } = fixture;
  await project.drive("photos").put("reports/a", "x");
  await project.drive("videos").put("b", "x");
  await signInAsOwner(fixture);
  await openSection(page, "Keys");
  await page.getByRole("button", { name: "New key" }).click();
  const form = dialog(page, "New key");
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("Nightly backup");
  // It begins with the least rights.
  for (const name of ["Write", "Delete", "Administer"]) {
    assert(!await form.getByRole("checkbox", { name, exact: true }).isChecked(), name);
  }
  await form.getByLabel("Drives").selectOption("Only chosen drives");
  await form.getByRole("button", { name: "Create key" }).click();
  await form.getByText("Choose the drives of the key").waitFor();
  await form.getByRole("checkbox", { name: "photos" }).check();
  await form.getByRole("textbox", { name: "Only names that begin with" }).fill("reports/");
  await form.getByLabel("Expires").selectOption("In 30 days");
  await inspect(page, "new-key");
  await form.getByRole("button", { name: "Create key" }).click();
  const created = dialog(page, "Created the key “Nightly backup”");
  const key = await created.getByLabel("Project key", { exact: true }).innerText();
  await created.getByRole("button", { name: "Copy project key" }).and(page.locator(":focus"))
    .press("Enter");
  assertEquals(await fixture.clipboard(), key);
  await created.getByRole("button", { name: "Done" }).click();
  await row(page, /Nightly backup/).getByText(
    "Read, list in photos: names that begin with “reports/”",
  )
    .waitFor();
  await inspect(page, "keys");
  const put = (key: string) =>
    fetch(`${server.origin}/v1/${project.id}/photos/files?name=reports/a`, {
      method: "POST",
      body: "x",
      headers: { "X-Api-Key": key },
    });
  const refused = await put(key);
  await refused.body?.cancel();
  assertEquals(refused.status, 403);
  await page.getByRole("button", { name: "Revoke Nightly backup" }).click();
  await dialog(page, "Revoke “Nightly backup”?").getByRole("button", { name: "Revoke key" })
    .click();
  await row(page, /Nightly backup/).waitFor({ state: "detached" });
  const unknown = await put(key);
  await unknown.body?.cancel();
  assertEquals(unknown.status, 401);
});

test("S3 keys are made with fewer rights, shown once, and revoked.", async (fixture) => {
  const { page, project, server } = fixture;
  const address = s3Of(server);
  await signInAsOwner(fixture);
  await openSection(page, "Keys");
  const section = page.getByRole("region", { name: "S3 keys", exact: true });
  await section.getByText(`S3 is at ${address}`).waitFor();
  await section.getByText("No S3 keys").waitFor();
  await section.getByRole("button", { name: "New S3 key" }).click();
  const form = dialog(page, "New S3 key");
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("Offsite backup");
  await form.getByRole("checkbox", { name: "Write", exact: true }).check();
  await form.getByRole("textbox", { name: "Only names that begin with" }).fill("reports/");
  await form.getByRole("button", { name: "Create key" }).click();
  const created = dialog(page, "Created the S3 key “Offsite backup”");
  const id = await created.getByLabel("Access key id", { exact: true }).innerText();
  const secret = await created.getByLabel("Secret access key", { exact: true }).innerText();
  assert(/^KV[A-Z0-9]{18}$/.test(id) && /^[A-Za-z0-9]{40}$/.test(secret));
  const settings = created.getByRole("region", { name: "Environment of S3 clients" });
  assertEquals(
    await settings.innerText(),
    `AWS_ENDPOINT_URL_S3=${address}\nAWS_ACCESS_KEY_ID=${id}\nAWS_SECRET_ACCESS_KEY=${secret}`,
  );
  await inspect(page, "new-s3-key");
  await created.getByRole("button", { name: "Done" }).click();
  const listed = row(page, /Offsite backup/);
  await listed.getByText("Read, list, write in names that begin with “reports/”").waitFor();
  await listed.getByText(id).waitFor();
  assert(!(await page.content()).includes(secret));
  await inspect(page, "s3-keys");
  assertEquals((await project.s3Keys()).map(({ prefix }) => prefix), ["reports/"]);
  await page.getByRole("button", { name: "Revoke Offsite backup" }).click();
  await dialog(page, "Revoke “Offsite backup”?").getByRole("button", { name: "Revoke S3 key" })
    .click();
  await listed.waitFor({ state: "detached" });
  assertEquals(await project.s3Keys(), []);
  await openSection(page, "Activity");
  await row(page, /S3 key revoked/).getByText(id).first().waitFor();
});

test("A key with fewer rights sees only what it may use.", async (fixture) => {
  const { page, project, server } = fixture;
  await project.drive("docs").put("reports/a.txt", "a");
  await project.drive("docs").put("secret.txt", "s");
  const { project_key } = await project.makeKey({
    permissions: ["read", "list"],
    name_prefix: "reports/",
  });
  await page.goto(server.origin);
  await page.getByLabel("Administrator’s token or project key").fill(project_key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  assertEquals(await page.getByRole("link", { name: "Keys" }).count(), 0);
  assertEquals(await page.getByRole("button", { name: "Upload" }).count(), 0);
  await page.getByRole("link", { name: /docs/ }).click();
  await page.getByRole("row", { name: "reports", exact: true }).waitFor();
  assertEquals(await page.getByRole("row", { name: "secret.txt" }).count(), 0);
});

test("A key that may only list sees neither links nor buttons of the trash.", async (fixture) => {
  const { page, project, server } = fixture;
  await project.call("PATCH", "", { body: { trash_days: 7 } });
  await project.drive("docs").put("a.txt", "a");
  await project.drive("docs").delete(["a.txt"]);
  const { project_key } = await project.makeKey({ permissions: ["list"] });
  await page.goto(server.origin);
  await submitSecret(page, project_key);
  await openSection(page, "Trash");
  await row(page, "a.txt").waitFor();
  const { length } = await page.getByRole("main").getByRole("button").all();
  assertEquals(length, 0);
  const sections = page.getByRole("navigation", { name: "Project" }).getByRole("link");
  assertEquals(await sections.allInnerTexts(), ["Files", "Uploads", "Trash", "Connect"]);
});

test("The settings change the trash, the limit and the domain, and delete a drive.", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("old").put("a", "x");
  await openProject(fixture);
  await openSection(page, "Settings");
  const section = (name: string) => page.getByRole("region", { name, exact: true });
  const save = async (name: string, field: string, value: string) => {
    await section(name).getByRole("textbox", { name: field }).fill(value);
    await section(name).getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved").first().waitFor();
  };
  await section("Trash").getByRole("textbox").fill("400");
  await page.getByText("Enter a whole number from 0 to 365").waitFor();
  await save("Trash", "Days to keep deleted files", "14");
  const space = section("Limits").getByRole("textbox", { name: "Limit of space" });
  await space.fill("2 GB");
  await space.press("Enter");
  await page.getByText("Saved").first().waitFor();
  fixture.observer.allow(/status of 400/);
  const domain = section("Domain for applications").getByRole("textbox", { name: "Domain" });
  await domain.fill("localhost");
  await domain.press("Enter");
  await section("Domain for applications").getByText(/localhost, which/).waitFor();
  assertEquals(await domain.getAttribute("aria-invalid"), "true");
  await save("Domain for applications", "Domain", "apps.example.com");
  await inspect(page, "settings");
  const answer = (await project.call("GET", "")).expect(200).json as Record<string, unknown>;
  assertEquals(
    [answer["trash_days"], answer["max_bytes"], answer["host_suffix"]],
    [14, 2e9, "apps.example.com"],
  );
  await page.getByRole("button", { name: "Delete the drive old" }).click();
  const question = dialog(page, "Delete the drive “old”?");
  await question.getByRole("textbox").fill("old");
  await question.getByRole("button", { name: "Delete drive" }).click();
  await row(page, "old").waitFor({ state: "detached" });
});

test("An application is made, gets keys, is opened to everyone, and is deleted.", async (fixture) => {
  const { page, gate } = fixture;
  await openProject(fixture);
  await openSection(page, "Applications");
  await page.getByText("No applications yet").waitFor();
  await inspect(page, "applications-empty");
  await page.getByRole("button", { name: "New application" }).first().click();
  const form = dialog(page, "New application");
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("viewer");
  await form.getByRole("textbox", { name: "Upstream" }).fill("ftp://nowhere");
  await form.getByRole("button", { name: "Create application" }).click();
  await form.getByRole("alert").filter({ hasText: /upstream/i }).waitFor();
  fixture.observer.allow(/status of 400/);
  await form.getByRole("textbox", { name: "Upstream" }).fill("http://127.0.0.1:9");
  await form.getByRole("button", { name: "Create application" }).click();
  await page.getByRole("heading", { level: 1, name: "viewer" }).waitFor();
  // Nobody gets in without a key unless the form says so.
  await page.getByText("Key required").waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  const key = dialog(page, "New key");
  await key.getByRole("textbox", { name: "Name" }).fill("phone");
  await key.getByRole("button", { name: "Create key" }).click();
  await dialog(page, "Created the key “phone”").getByRole("button", { name: "Done" }).click();
  await row(page, "phone").waitFor();
  await inspect(page, "application");
  await page.getByRole("button", { name: "Turn off" }).click();
  await dialog(page, "Open it to everyone?").getByRole("button", {
    name: "Turn access control off",
  }).click();
  await page.getByText("Open to everyone").waitFor();
  await page.getByRole("button", { name: "Delete application…" }).click();
  await dialog(page, "Delete “viewer”?").getByRole("button", { name: "Delete application" })
    .click();
  await page.getByText("No applications yet").waitFor();
  assert(gate.server.port > 0);
});

test("Usage, activity, health and the lines to connect are shown.", async (fixture) => {
  const { page, project, server } = fixture;
  await project.drive("photos").put("a", "x".repeat(5000));
  await project.makeKey({ permissions: ["read"] });
  await openProject(fixture);
  await openSection(page, "Usage");
  await page.getByRole("heading", { name: "Over time" }).waitFor();
  await page.getByText("Requests").first().waitFor();
  await inspect(page, "usage");
  await openSection(page, "Activity");
  await row(page, /Key created/).first().waitFor();
  await inspect(page, "activity");
  await openSection(page, "Connect");
  await page.getByRole("region", { name: "curl", exact: true }).getByText(project.id).first()
    .waitFor();
  await page.getByLabel("Project key").fill("the-key");
  await page.getByRole("region", { name: "Command line", exact: true }).getByText("'the-key'")
    .waitFor();
  await page.getByRole("heading", { name: "S3" }).waitFor();
  await inspect(page, "connect");
  await page.getByRole("link", { name: "kvdrive" }).click();
  await page.getByRole("link", { name: "Health" }).click();
  await page.getByText("Last check of all bytes").waitFor();
  const advice = page.getByRole("alert").getByText("The server makes no backups");
  await advice.getByRole("button", { name: "Copy kvdrive serve --backup-to DIR" }).click();
  assertEquals(await fixture.clipboard(), "kvdrive serve --backup-to DIR");
  assertEquals(await page.getByText("Everything is in order").count(), 0);
  await inspect(page, "health");
  const status = (await administer(server, "GET", "/admin/v1/status", {})).expect(200)
    .json as { version: string };
  await page.getByText(new RegExp(status.version)).first().waitFor();
  assert(!(await page.content()).includes(ADMIN_TOKEN));
});

test("Dialogs begin at their first field, and return the focus.", async (fixture) => {
  const { page } = fixture;
  await signInAsOwner(fixture);
  await openSection(page, "Keys");
  const button = page.getByRole("button", { name: "New key" });
  await button.focus();
  await page.keyboard.press("Enter");
  const form = dialog(page, "New key");
  await form.waitFor();
  await page.keyboard.type("phone");
  assertEquals(await form.getByRole("textbox", { name: "Name" }).first().inputValue(), "phone");
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await button.and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Enter");
  await form.waitFor();
  await page.keyboard.type("phone");
  await page.keyboard.press("Enter");
  const created = dialog(page, "Created the key “phone”");
  await created.getByRole("button", { name: "Done" }).press("Enter");
  await created.waitFor({ state: "detached" });
  await button.and(page.locator(":focus")).waitFor();
});

test("Applications with long names fit beside the navigation.", async (fixture) => {
  const { page, project } = fixture;
  await project.makeApp({
    name: "another-application-with-a-long-name",
    upstream: "http://127.0.0.1:3000",
    host: `${project.id}.applications.example.com`,
  });
  await openProject(fixture);
  await openSection(page, "Applications");
  await row(page, /another-application/).waitFor();
  await inspect(page, "applications");
});

test("The days of the usage are the same in every time zone.", async (fixture) => {
  const { context, project, server } = fixture;
  const { days } = (await project.call("GET", "/usage?days=1")).expect(200).json as {
    days: { date: string }[];
  };
  const day = new Date(days[0]!.date).toLocaleDateString("en", {
    timeZone: "UTC",
    dateStyle: "medium",
  });
  const far = await context.browser()?.newContext({ timezoneId: "America/New_York" });
  const page = await far?.newPage();
  assert(page !== undefined);
  await page.goto(server.origin);
  await submitSecret(page, project.key);
  await openSection(page, "Usage");
  await page.getByRole("rowheader", { name: day }).first().waitFor();
  await far?.close();
});

test("A page that came too often loads by itself later.", async (fixture) => {
  const { page, context, observer } = fixture;
  observer.allow(/status of 429/);
  await signInAsOwner(fixture);
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  const body = JSON.stringify({ errors: ["Too many requests"] });
  await context.route(
    /\/admin\/.*\/keys/,
    (route) => route.fulfill({ status: 429, body }),
    { times: 1 },
  );
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByText("The page tries again by itself.").waitFor();
  await page.getByRole("rowheader").first().waitFor();
});

test("The page says that the server is away, and recovers by itself.", async (fixture) => {
  const { page, context, observer } = fixture;
  observer.allow(/ERR_INTERNET_DISCONNECTED|Failed to load/);
  await signInAsOwner(fixture);
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  await context.setOffline(true);
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByText("The server cannot be reached").waitFor();
  await inspect(page, "offline");
  await context.setOffline(false);
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  await page.getByRole("rowheader").first().waitFor();
  await page.getByText("The server cannot be reached").waitFor({ state: "detached" });
});
