import { keyNameProblem } from "../drive/applications.ts";
import { isoSeconds } from "../drive/iso_time.ts";
import { prefixOf, type ProjectKey } from "../drive/secrets.ts";
import { BeingRemoved } from "../store/errors.ts";
import type { ProjectInfo } from "../store/project_store.ts";
import type { Store } from "../store/store.ts";
import { type Call, projectIdProblem } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { CommandError } from "./usage_error.ts";
import { quoted } from "./visible.ts";

export const projectCommands: readonly StoreCommand[] = [
  {
    name: "project create",
    optional: ["NAME"],
    options: [{ name: "id", value: "ID", help: "its id, 1 to 64 of A-Z a-z 0-9 - (a random one)" }],
    makesStore: true,
    summary: "make a project and a first key for it",
    run: createProject,
  },
  { name: "project list", summary: "list the projects and what they hold", run: listProjects },
  {
    name: "project delete",
    operands: ["ID"],
    asks: true,
    summary: "delete a project with its drives, keys and applications",
    run: deleteProject,
  },
];

/** @throws {CommandError} where there is no such project. */
export async function demandProject(store: Store, project: string): Promise<ProjectInfo> {
  const info = await store.projects.get(project);
  if (info === undefined) throw noSuchProject(project);
  return info;
}

export function noSuchProject(project: string): CommandError {
  return new CommandError(`There is no project ${quoted(project)}: see kvdrive project list`);
}

/** "1 file", "2 files". */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

async function createProject(call: Call): Promise<void> {
  call.check("NAME", keyNameProblem);
  call.check("id", projectIdProblem);
  const { info, key } = await call.withStore((store) => makeProject(call, store));
  const { project, name = null, created } = info;
  call.answer(
    {
      project_id: project,
      name,
      created: isoSeconds(created),
      project_key: key.text,
      prefix: prefixOf(key),
    },
    [
      `Project id:   ${project}`,
      `Project key:  ${key.text}`,
      "",
      "The key is shown once: keep it as you keep passwords.",
    ],
  );
}

async function makeProject(
  call: Call,
  store: Store,
): Promise<{ info: ProjectInfo; key: ProjectKey }> {
  try {
    return await store.projects.create(call.get("id"), call.get("NAME"));
  } catch (error) {
    if (!(error instanceof BeingRemoved)) throw error;
    throw new CommandError(
      `An earlier project ${
        call.get("id")
      } is being removed, by the server or when it starts next: try again then, or choose another id`,
      { cause: error },
    );
  }
}

async function listProjects(call: Call): Promise<void> {
  const projects = await call.withStore(async (store) => {
    const infos = await store.projects.list();
    return await Array.fromAsync(infos, async ({ project, name = null, created }) => {
      const { files, bytes } = await usageOf(store, project);
      return { project_id: project, name, created: isoSeconds(created), files, bytes };
    });
  });
  const rows = projects.map(({ project_id, name, files, bytes, created }) => {
    return [project_id, name, files, bytes, created];
  });
  const headings = ["ID", "NAME", "FILES", "BYTES", "CREATED"];
  call.answerTable({ projects }, headings, rows, "There are no projects.");
}

async function deleteProject(call: Call): Promise<void> {
  call.check("ID", projectIdProblem);
  const project = call.demand("ID");
  await call.withStore(async (store) => {
    await demandProject(store, project);
    const { drives, files } = await usageOf(store, project);
    const content = `${counted(drives, "drive")}, ${counted(files, "file")}`;
    call.confirm(`Delete the project ${project} with its ${content}?`);
    if (!await store.projects.remove(project)) throw noSuchProject(project);
  });
  call.answer({ project_id: project }, [
    `The project ${project} is deleted. Its bytes are removed by the server, or when it starts next.`,
  ]);
}

async function usageOf(
  store: Store,
  project: string,
): Promise<{ drives: number; files: number; bytes: number }> {
  const drives = await store.drives(project);
  return {
    drives: drives.length,
    files: drives.reduce((sum, { files }) => sum + files, 0),
    bytes: drives.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
