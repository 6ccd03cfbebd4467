import { keyNameProblem } from "../drive/applications.ts";
import { parseByteSize } from "../drive/byte_size.ts";
import { byteText } from "../drive/byte_text.ts";
import { HostRules } from "../drive/hosts.ts";
import { prefixOf, type ProjectKey } from "../drive/secrets.ts";
import { driveAnswer, projectAnswer, sumOf } from "../routes/admin/project_answer.ts";
import { BeingRemoved } from "../store/errors.ts";
import type { ProjectChanges, ProjectInfo } from "../store/project_store.ts";
import type { Store } from "../store/store.ts";
import { type Call, projectIdProblem } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { CommandError, UsageError } from "./usage_error.ts";
import { quoted } from "./visible.ts";

export const projectCommands: readonly StoreCommand[] = [
  {
    name: "project create",
    optional: ["NAME"],
    options: [
      { name: "id", value: "ID", help: "its id, 1 to 64 of A-Z a-z 0-9 - (a random one)" },
      { name: "max-bytes", value: "SIZE", help: "what its files may have together, such as 10GB" },
    ],
    makesStore: true,
    summary: "make a project and a first key for it",
    run: createProject,
  },
  { name: "project list", summary: "list the projects and what they hold", run: listProjects },
  {
    name: "project change",
    operands: ["ID"],
    options: [
      {
        name: "max-bytes",
        value: "SIZE",
        help: "what its files may have together, such as 10GB; none for no limit",
      },
      {
        name: "host-suffix",
        value: "DOMAIN",
        help: "domain below which its owner may choose host names, or none",
      },
    ],
    summary: "limit what a project may hold, or allow it host names",
    run: changeProject,
  },
  {
    name: "project delete",
    operands: ["ID"],
    asks: true,
    summary: "delete a project with its drives, keys and applications",
    run: deleteProject,
  },
];

/** What takes a setting away. */
const NO_LIMIT = "none";

const OVER_LIMIT = "That is over the limit: nothing can be added before as much is deleted.";

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
  call.check("max-bytes", sizeProblem);
  const { info, key } = await call.withStore((store) => makeProject(call, store));
  call.answer({ ...projectAnswer(info), project_key: key.text, prefix: prefixOf(key) }, [
    `Project id:   ${info.project}`,
    `Project key:  ${key.text}`,
    "",
    "The key is shown once: keep it as you keep passwords.",
  ]);
}

async function makeProject(
  call: Call,
  store: Store,
): Promise<{ info: ProjectInfo; key: ProjectKey }> {
  try {
    return await store.projects.create(call.get("id"), call.get("NAME"), sizeIn(call));
  } catch (error) {
    if (!(error instanceof BeingRemoved)) throw error;
    const when = "by the server or when it starts next: try again then, or choose another id";
    const problem = `The earlier project ${error.id} is being removed, ${when}`;
    throw new CommandError(problem, { cause: error });
  }
}

async function changeProject(call: Call): Promise<void> {
  call.check("ID", projectIdProblem);
  const project = call.demand("ID");
  const changes = await changesIn(call);
  const { info, drives } = await call.withStore(async (store) => {
    const info = await store.projects.change(project, changes);
    if (info === undefined) throw noSuchProject(project);
    return { info, drives: await store.drives(project) };
  });
  const sum = sumOf(drives);
  const { bytes, open_upload_bytes } = sum;
  const limit = info.maxBytes === undefined
    ? ", without a limit"
    : ` of ${sizeText(info.maxBytes)}`;
  const { hostSuffix } = info;
  call.answer({ ...projectAnswer(info), ...sum, drives: drives.map(driveAnswer) }, [
    `The project ${project} holds ${sizeText(bytes)}${limit}.`,
    ...(open_upload_bytes > 0
      ? [`Its open uploads hold ${sizeText(open_upload_bytes)} more.`]
      : []),
    ...(bytes + open_upload_bytes > (info.maxBytes ?? Infinity) ? [OVER_LIMIT] : []),
    ...(hostSuffix === undefined ? [] : [`Its owner may choose host names below ${hostSuffix}.`]),
  ]);
}

/** @throws {UsageError} where nothing is to be changed, or a value is none. */
async function changesIn(call: Call): Promise<ProjectChanges> {
  const [limit, suffix] = [call.get("max-bytes"), call.get("host-suffix")];
  if (limit === undefined && suffix === undefined) {
    throw new UsageError("There is nothing to change: give --max-bytes, --host-suffix or both");
  }
  if (limit !== NO_LIMIT) call.check("max-bytes", limitProblem);
  if (suffix !== NO_LIMIT) {
    const hosts = await HostRules.load(call.serverNames);
    call.check("host-suffix", (text) => hosts.problemOf(text.toLowerCase()));
  }
  return {
    maxBytes: limit === NO_LIMIT ? null : sizeIn(call),
    hostSuffix: suffix === NO_LIMIT ? null : suffix?.toLowerCase(),
  };
}

function sizeText(bytes: number): string {
  return bytes < 1000 ? byteText(bytes) : `${byteText(bytes)} (${bytes} bytes)`;
}

/** The size in `--max-bytes`, if there is one. */
function sizeIn(call: Call): number | undefined {
  return parseByteSize(call.get("max-bytes") ?? "");
}

function sizeProblem(text: string): string | undefined {
  return parseByteSize(text) === undefined
    ? `is ${
      quoted(text)
    }: it must be a number of bytes, or a size such as 500MB, 10GB, 1.5TB or 10GiB`
    : undefined;
}

function limitProblem(text: string): string | undefined {
  const problem = sizeProblem(text);
  return problem === undefined ? undefined : `${problem}, or ${NO_LIMIT}`;
}

async function listProjects(call: Call): Promise<void> {
  const projects = await call.withStore(async (store) => {
    const infos = await store.projects.list();
    return await Array.fromAsync(infos, async (info) => {
      return { ...projectAnswer(info), ...sumOf(await store.drives(info.project)) };
    });
  });
  const rows = projects.map(({ project_id, name, files, bytes, max_bytes, created }) => {
    const limit = max_bytes === null ? null : byteText(max_bytes);
    return [project_id, name, files, byteText(bytes), limit, created];
  });
  const headings = ["ID", "NAME", "FILES", "SIZE", "LIMIT", "CREATED"];
  call.answerTable({ projects }, headings, rows, "There are no projects.");
}

async function deleteProject(call: Call): Promise<void> {
  call.check("ID", projectIdProblem);
  const project = call.demand("ID");
  await call.withStore(async (store) => {
    await demandProject(store, project);
    const drives = await store.drives(project);
    const content = `${counted(drives.length, "drive")}, ${counted(sumOf(drives).files, "file")}`;
    call.confirm(`Delete the project ${project} with its ${content}?`);
    if (!await store.projects.remove(project)) throw noSuchProject(project);
  });
  call.answer({ project_id: project }, [
    `The project ${project} is deleted. Its bytes are removed by the server, or when it starts next.`,
  ]);
}
