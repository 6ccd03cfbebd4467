import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { ADMIN_TOKEN } from "../support/admin.ts";
import {
  openSection,
  secretField,
  signInAsAdministrator,
  signInAsOwner,
  submitSecret,
} from "./support/navigation.ts";
import { suite } from "./support/suite.ts";

const test = suite("Signing in and out");

async function stored(page: Page): Promise<string> {
  return await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
}

async function assertSignedOut(page: Page): Promise<void> {
  await secretField(page).waitFor();
  assertEquals(await stored(page), "{}");
  assertEquals(await secretField(page).inputValue(), "");
}

test("The administrator's token opens all projects", async (fixture) => {
  const { page, project } = fixture;
  await signInAsAdministrator(fixture);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("rowheader", { name: `${project.id} Photo album` }).waitFor();
  await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
  await page.waitForURL(`**/#/p/${project.id}`);
});

test("A project key opens its project, and no list of projects", async (fixture) => {
  const { page, project } = fixture;
  await signInAsOwner(fixture);
  assertStringIncludes(page.url(), `#/p/${project.id}`);
  assertEquals(await page.getByRole("combobox", { name: "Project" }).count(), 0);
});

test(
  "A wrong secret is refused with a reason, and can be corrected",
  async ({ page, server, project, observer }) => {
    observer.allow(/status of 401/);
    await page.goto(server.origin);
    assertEquals(await secretField(page).getAttribute("type"), "password");
    for (const wrong of ["", "wrong", `${project.id}_wrong`, "grüße", "two words"]) {
      await submitSecret(page, wrong);
      const alert = page.getByRole("alert").filter({ hasText: /\S/ });
      const sentence = await alert.innerText();
      assertMatch(sentence, /^\S.{15,}$/);
      assertNotMatch(sentence, /header|X-Api-Key|Authorization/i, "The message is for programs");
      assertEquals(await stored(page), "{}");
    }
    await submitSecret(page, `  ${project.key}\n`);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  },
);

test("The secret is kept in the session storage of the tab until the user signs out", async (fixture) => {
  const { page, project, context, server } = fixture;
  await signInAsOwner(fixture);
  assertStringIncludes(await stored(page), project.key);
  await page.reload();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  const other = await context.newPage();
  await other.goto(server.origin);
  await assertSignedOut(other);
  await fixture.observer.assertNoProblems();
  await openSection(page, "Connect");
  await page.getByRole("button", { name: "Sign out" }).click();
  await assertSignedOut(page);
  await page.goBack();
  await assertSignedOut(page);
  await page.reload();
  await assertSignedOut(page);
  assertEquals((await page.content()).includes(project.key), false);
});

test(
  "A key that is revoked during a session leads back to the sign-in form with the reason",
  async (fixture) => {
    const { page, project, server, observer } = fixture;
    observer.allow(/status of 401/);
    const created =
      (await project.call("POST", "/keys", { body: { name: "old" } })).expect(201).json;
    const { project_key, prefix } = created as { project_key: string; prefix: string };
    observer.registerSecret(project_key);
    await page.goto(server.origin);
    await submitSecret(page, project_key);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.getByText("signed in with it").waitFor();
    (await project.call("DELETE", `/keys/${prefix}`)).expect(200);
    await page.getByRole("link", { name: "Applications" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "signed out" });
    assertMatch(await alert.innerText(), /^You were signed out\. .+\.$/);
    await assertSignedOut(page);
    await submitSecret(page, project.key);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Applications" }).waitFor();
  },
);

test("A bookmarked view opens after the sign-in", async (fixture) => {
  const { page, project, server } = fixture;
  await page.goto(`${server.origin}/#/p/${project.id}/connect`);
  await submitSecret(page, ADMIN_TOKEN);
  await page.getByRole("heading", { level: 1, name: "Connect" }).waitFor();
  await openSection(page, "Uploads");
});

test(
  "An unreachable server is reported with a reason",
  async ({ page, server, project, observer }) => {
    observer.allow(/ERR_FAILED/);
    await page.goto(server.origin);
    await page.route("**/admin/**", (route) => route.abort());
    await submitSecret(page, project.key);
    await page.getByText("The server cannot be reached").waitFor();
    await page.unroute("**/admin/**");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  },
);
