import { fromFileUrl } from "@std/path";
import { assertLess } from "@std/assert";
import { administer, Project, PROJECTS } from "../support/admin.ts";
import { patternBytes } from "../support/bytes.ts";
import { enter, row, signInAsAdministrator } from "./support/desk.ts";
import { png } from "./support/samples.ts";
import type { Scene } from "./support/scene.ts";
import { stories } from "./support/stories.ts";
import { choose, entry, file } from "./support/uploads.ts";

const BYTES = 150_000;

/** They change with every run, so they are made when somebody asks for them. */
if (Deno.env.get("KVDRIVE_PICTURES") === "1") {
  const story = stories("The pictures of the documentation");
  story("Projects", takeProjects);
  story("Files", takeFiles);
}

async function save({ page }: Scene, name: string): Promise<void> {
  const path = fromFileUrl(new URL(`../../docs/${name}.png`, import.meta.url));
  await page.mouse.move(0, 0);
  await page.screenshot({ path });
  assertLess((await Deno.stat(path)).size, BYTES);
}

/** Names as people give them, in place of those that tests make up. */
async function nameProjects({ server }: Scene): Promise<Project> {
  const body = (await administer(server, "GET", PROJECTS)).expect(200).json;
  const { projects } = body as { projects: { project_id: string }[] };
  for (const { project_id } of projects) {
    (await administer(server, "DELETE", `${PROJECTS}/${project_id}`)).expect(202);
  }
  const made = [];
  const named = { album: "Photo album", backups: "Backups of the office", website: "Website" };
  for (const [project_id, name] of Object.entries(named)) {
    made.push(await Project.make(server, { project_id, name }));
  }
  const [album, backups, website] = made as [Project, Project, Project];
  for (let day = 1; day <= 7; day++) {
    await backups.drive("office").put(`day-${day}.tar`, patternBytes(8_000_000));
  }
  for (const name of ["index.html", "style.css", "logo.svg"]) {
    await website.drive("site").put(name, name);
  }
  return album;
}

async function fillAlbum({ page }: Scene, album: Project): Promise<void> {
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

async function takeProjects(scene: Scene): Promise<void> {
  await fillAlbum(scene, await nameProjects(scene));
  await signInAsAdministrator(scene);
  await row(scene.page, "album").waitFor();
  await save(scene, "dashboard-projects");
}

async function takeFiles(scene: Scene): Promise<void> {
  const { page, server } = scene;
  const body = (await administer(server, "GET", PROJECTS)).expect(200).json;
  const { projects } = body as { projects: { project_id: string }[] };
  for (const { project_id } of projects) {
    (await administer(server, "DELETE", `${PROJECTS}/${project_id}`)).expect(202);
  }
  const album = await Project.make(server, { project_id: "photo-album", name: "Photo album" });
  await fillAlbum(scene, album);
  await page.goto(`${server.origin}/#/p/photo-album/files/photos`);
  await enter(page, album.key);
  await entry(page, "list.csv").waitFor();
  await page.route("**/parts?*part=2*", () => {});
  await choose(page, "Upload files", [file("holidays.mov", patternBytes(24_000_000))]);
  await page.getByText(/B\/s/).first().waitFor();
  await save(scene, "dashboard-files");
}
