import { fromFileUrl } from "@std/path/from-file-url";
import { assertLess } from "@std/assert";
import { administer, Project, PROJECTS } from "../support/admin.ts";
import { patternBytes } from "../support/bytes.ts";
import { signInAsAdministrator, submitSecret, waitUntilLoaded } from "./support/navigation.ts";
import { png } from "./support/samples.ts";
import type { Fixture } from "./support/fixture.ts";
import { suite } from "./support/suite.ts";
import { entry } from "./support/uploads.ts";

const BYTES = 200_000;

/** The screenshots change with every run, so they are taken on request only. */
const test = suite("Screenshots for the documentation", {
  ignore: Deno.env.get("KVDRIVE_PICTURES") !== "1",
});

async function save({ page }: Fixture, name: string): Promise<void> {
  const path = fromFileUrl(new URL(`../../docs/${name}.png`, import.meta.url));
  await page.mouse.move(0, 0);
  await page.waitForTimeout(600);
  await page.screenshot({ path });
  assertLess((await Deno.stat(path)).size, BYTES);
}

/** Replaces all projects by an album with files of several kinds. */
async function createAlbum({ server, page }: Fixture): Promise<Project> {
  const body = (await administer(server, "GET", PROJECTS)).expect(200).json;
  const { projects } = body as { projects: { project_id: string }[] };
  for (const { project_id } of projects) {
    (await administer(server, "DELETE", `${PROJECTS}/${project_id}`)).expect(202);
  }
  const id = `album-${projects.length}`;
  const album = await Project.make(server, { project_id: id, name: "Photo album" });
  const drive = album.drive("photos");
  await drive.put("2025/summer/beach.jpg", patternBytes(2_400_000));
  await drive.put("pets/cat.jpg", patternBytes(800_000));
  await drive.put("Trip 2026/notes.md", "# Notes\n");
  for (const [index, name] of ["cover", "family", "garden", "harbour"].entries()) {
    await drive.put(`${name}.png`, await png(page, 400 + 120 * index));
  }
  await drive.put("film.mp4", patternBytes(9_300_000));
  await drive.put("list.csv", "name,place\n".repeat(80));
  await drive.put("notes.md", "# Notes\n");
  await drive.put("paper.pdf", patternBytes(640_000));
  return album;
}

test("Files and a preview", async (fixture) => {
  const { page, server } = fixture;
  const album = await createAlbum(fixture);
  await page.goto(server.origin);
  await submitSecret(page, album.key);
  await page.getByRole("link", { name: /photos/ }).click();
  await entry(page, "list.csv").waitFor();
  await page.waitForTimeout(1000);
  await save(fixture, "dashboard-files");
  await entry(page, "harbour.png").dblclick();
  await page.getByRole("img", { name: /harbour/ }).first().waitFor();
  await save(fixture, "dashboard-preview");
});

test("The health of the server", async (fixture) => {
  const { page } = fixture;
  await createAlbum(fixture);
  await signInAsAdministrator(fixture);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("link", { name: "Health" }).click();
  await page.getByText("Last check of all bytes").waitFor();
  await waitUntilLoaded(page);
  await save(fixture, "dashboard-health");
});
