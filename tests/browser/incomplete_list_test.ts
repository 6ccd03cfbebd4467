import { assertEquals } from "@std/assert";
import type { Fixture } from "./support/fixture.ts";
import { putMany } from "./support/many_files.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Lists that could not be read");

/** Files of a folder that needs two requests. */
const COUNT = 1500;

/** Lets requests of the page fail as if the server were stopped. Returns a function that starts it again. */
async function stopServer(
  { context, observer }: Fixture,
  requests: RegExp,
): Promise<() => Promise<void>> {
  observer.allow(/ERR_CONNECTION_REFUSED/);
  const refuse = (route: { abort(code: string): Promise<void> }) =>
    route.abort("connectionrefused");
  for (const pattern of [requests, /\/readyz/]) await context.route(pattern, refuse);
  return async () => {
    for (const pattern of [requests, /\/readyz/]) await context.unroute(pattern);
  };
}

test("A folder of which only a part was loaded says so, and loads the rest", async (fixture) => {
  const { page, project } = fixture;
  await putMany(project, "many", COUNT, (index) => `file-${index}.txt`);
  await signInAsOwner(fixture);
  const start = await stopServer(fixture, /\/files\?.*last=file/);
  await openFolder(fixture, "many");
  const notice = page.getByRole("alert").getByText("Some files are missing here");
  await notice.waitFor();
  await entry(page, "file-0.txt").waitFor();
  await page.getByText("At least 1,000 items").waitFor();
  await inspect(page, "incomplete");
  await start();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText(/^1,500 items/).waitFor();
  await notice.waitFor({ state: "detached" });
});

test("A folder that was seen before is not shown as if it were up to date", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("few").putAll(["a.txt", "b.txt"]);
  await signInAsOwner(fixture);
  await openFolder(fixture, "few");
  await page.getByText(/^2 items/).waitFor();
  const start = await stopServer(fixture, /\/files\?/);
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByRole("alert").getByText("This list may be out of date").waitFor();
  assertEquals(await entry(page, "b.txt").isVisible(), true);
  await start();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("alert").getByText("out of date").waitFor({ state: "detached" });
});

test("A folder of which nothing was loaded offers to try again", async (fixture) => {
  const { page, project } = fixture;
  await project.drive("few").putAll(["a.txt"]);
  await signInAsOwner(fixture);
  const start = await stopServer(fixture, /\/files\?/);
  await openFolder(fixture, "few");
  const retry = page.getByRole("button", { name: "Try again" });
  await retry.waitFor();
  assertEquals(await page.getByText("This drive is empty").count(), 0);
  await start();
  await retry.click();
  await entry(page, "a.txt").waitFor();
});
