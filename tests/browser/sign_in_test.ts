import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { ADMIN_TOKEN } from "../support/admin.ts";
import {
  enter,
  openSection,
  secretField,
  signInAsAdministrator,
  signInAsOwner,
} from "./support/desk.ts";
import { stories } from "./support/stories.ts";

const story = stories("Signing in and out");

async function stored(page: Page): Promise<string> {
  return await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
}

async function assertSignedOut(page: Page): Promise<void> {
  await secretField(page).waitFor();
  assertEquals(await stored(page), "{}");
  assertEquals(await secretField(page).inputValue(), "");
}

story("The administrator's token opens all projects.", async (scene) => {
  const { page, project } = scene;
  await signInAsAdministrator(scene);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("rowheader", { name: `${project.id} Photo album` }).waitFor();
  await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
  await page.waitForURL(`**/#/p/${project.id}`);
});

story("A project key opens its project, and no list of projects.", async (scene) => {
  const { page, project } = scene;
  await signInAsOwner(scene);
  assertStringIncludes(page.url(), `#/p/${project.id}`);
  assertEquals(await page.getByRole("combobox", { name: "Project" }).count(), 0);
});

story(
  "A wrong secret is answered with a sentence, and may be mended.",
  async ({ page, server, project, watch }) => {
    watch.expect(/status of 401/);
    await page.goto(server.origin);
    assertEquals(await secretField(page).getAttribute("type"), "password");
    for (const wrong of ["", "wrong", `${project.id}_wrong`, "grüße", "two words"]) {
      await enter(page, wrong);
      const alert = page.getByRole("alert").filter({ hasText: /\S/ });
      const sentence = await alert.innerText();
      assertMatch(sentence, /^\S.{15,}$/);
      assertNotMatch(sentence, /header|X-Api-Key|Authorization/i, "It speaks to programs");
      assertEquals(await stored(page), "{}");
    }
    await enter(page, `  ${project.key}\n`);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  },
);

story("The secret lives in the tab's session alone, until the person signs out.", async (scene) => {
  const { page, project, context, server } = scene;
  await signInAsOwner(scene);
  assertStringIncludes(await stored(page), project.key);
  await page.reload();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  const other = await context.newPage();
  await other.goto(server.origin);
  await assertSignedOut(other);
  await scene.watch.judge();
  await openSection(page, "Connect");
  await page.getByRole("button", { name: "Sign out" }).click();
  await assertSignedOut(page);
  await page.goBack();
  await assertSignedOut(page);
  await page.reload();
  await assertSignedOut(page);
  assertEquals((await page.content()).includes(project.key), false);
});

story(
  "A key that is revoked meanwhile leads back to the sign-in with a sentence.",
  async (scene) => {
    const { page, project, server, watch } = scene;
    watch.expect(/status of 401/);
    const made = (await project.call("POST", "/keys", { body: { name: "old" } })).expect(201).json;
    const { project_key, prefix } = made as { project_key: string; prefix: string };
    watch.keepSecret(project_key);
    await page.goto(server.origin);
    await enter(page, project_key);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.getByText("signed in with it").waitFor();
    (await project.call("DELETE", `/keys/${prefix}`)).expect(200);
    await page.getByRole("link", { name: "Applications" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "signed out" });
    assertMatch(await alert.innerText(), /^You were signed out\. .+\.$/);
    await assertSignedOut(page);
    await enter(page, project.key);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Applications" }).waitFor();
  },
);

story("An address that somebody kept is opened once they have signed in.", async (scene) => {
  const { page, project, server } = scene;
  await page.goto(`${server.origin}/#/p/${project.id}/connect`);
  await enter(page, ADMIN_TOKEN);
  await page.getByRole("heading", { level: 1, name: "Connect" }).waitFor();
  await openSection(page, "Uploads");
});

story(
  "A server that cannot be reached is told in a sentence.",
  async ({ page, server, project, watch }) => {
    watch.expect(/ERR_FAILED/);
    await page.goto(server.origin);
    await page.route("**/admin/**", (route) => route.abort());
    await enter(page, project.key);
    await page.getByText("The server cannot be reached").waitFor();
    await page.unroute("**/admin/**");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  },
);
