import { fromFileUrl } from "@std/path";
import { assertLess } from "@std/assert";
import { administer, Project, PROJECTS } from "../support/admin.ts";
import { patternBytes } from "../support/bytes.ts";
import { row, signInAsAdministrator, submitSecret } from "./support/navigation.ts";
import { png } from "./support/samples.ts";
import type { Fixture } from "./support/fixture.ts";
import { suite } from "./support/suite.ts";
import { choose, entry, file } from "./support/uploads.ts";

const BYTES = 150_000;

/** The screenshots change with every run, so they are taken on request only. */
const test = suite("Screenshots for the documentation", {
  ignore: Deno.env.get("KVDRIVE_PICTURES") !== "1",
});
test("Projects", takeProjects);
test("Files", takeFiles);

async function save({ page }: Fixture, name: string): Promise<void> {
  const path = fromFileUrl(new URL(`../../docs/${name}.png`, import.meta.url));
  await page.mouse.move(0, 0);
  await page.screenshot({ path });
  assertLess((await Deno.stat(path)).size, BYTES);
}

/** Replaces all projects by ones with realistic names. Returns the album. */
async function createProjects({ server }: Fixture): Promise<Project> {
  const body = (await administer(server, "GET", PROJECTS)).expect(200).json;
  const { projects } = body as { projects: { project_id: string }[] };
  for (const { project_id } of projects) {
    (await administer(server, "DELETE", `${PROJECTS}/${project_id}`)).expect(202);
  }
  const created = [];
  const names = { album: "Photo album", backups: "Office backups", website: "Website" };
  for (const [project_id, name] of Object.entries(names)) {
    created.push(await Project.make(server, { project_id, name }));
  }
  const [album, backups, website] = created as [Project, Project, Project];
  for (let day = 1; day <= 7; day++) {
    await backups.drive("office").put(`day-${day}.tar`, patternBytes(8_000_000));
  }
  for (const name of ["index.html", "style.css", "logo.svg"]) {
    await website.drive("site").put(name, name);
  }
  return album;
}

async function fillAlbum({ page }: Fixture, album: Project): Promise<void> {
  const drive = album.drive("photos");
  await drive.put("2021/summer/beach.jpg", patternBytes(2_400_000));
  await drive.put("2020/winter.jpg", patternBytes(1_900_000));
  await drive.put("pets/cat.jpg", patternBytes(800_000));
  for (const name of ["cover.png", "family.png", "garden.png", "harbour.png"]) {
    await drive.put(name, await png(page, 200 + 60 * name.length));
  }
  await drive.put("film.mp4", patternBytes(9_300_000));
  await drive.put("list.csv", "name,place\n".repeat(80));
  await drive.put("notes.md", "# Notes\n");
}

async function takeProjects(fixture: Fixture): Promise<void> {
  await fillAlbum(fixture, await createProjects(fixture));
  await signInAsAdministrator(fixture);
  await row(fixture.page, "album").waitFor();
  await save(fixture, "dashboard-projects");
}

async function takeFiles(fixture: Fixture): Promise<void> {
  const { page, server } = fixture;
  const body = (await administer(server, "GET", PROJECTS)).expect(200).json;
  const { projects } = body as { projects: { project_id: string }[] };
  for (const { project_id } of projects) {
    (await administer(server, "DELETE", `${PROJECTS}/${project_id}`)).expect(202);
  }
  const album = await Project.make(server, { project_id: "photo-album", name: "Photo album" });
  await fillAlbum(fixture, album);
  await page.goto(`${server.origin}/#/p/photo-album/files/photos`);
  await submitSecret(page, album.key);
  await entry(page, "list.csv").waitFor();
  await page.route("**/parts?*part=2*", () => {});
  await choose(page, "Upload files", [file("holidays.mov", patternBytes(24_000_000))]);
  await page.getByText(/B\/s/).first().waitFor();
  await save(fixture, "dashboard-files");
}
