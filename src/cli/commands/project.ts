import { driveAnswer, projectAnswer, usageOf } from "../../api/admin/answers.ts";
import { HostRules } from "../../rules/hosts.ts";
import { keyNameProblem } from "../../rules/names.ts";
import { keyPrefix, type ProjectKey } from "../../rules/secrets.ts";
import { formatBytes, parseByteSize } from "../../rules/units.ts";
import type { ProjectChanges, ProjectInfo } from "../../store/accounts/projects.ts";
import { BeingDeleted } from "../../store/engine/errors.ts";
import type { Store } from "../../store/store.ts";
import { CommandError, UsageError } from "../terminal/errors.ts";
import { plural, quoteWord } from "../terminal/text.ts";
import { projectIdProblem, type StoreCall, type StoreCommand } from "./store_command.ts";

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
export async function requireProject(store: Store, project: string): Promise<ProjectInfo> {
  const info = await store.projects.get(project);
  if (info === undefined) throw noSuchProject(project);
  return info;
}

export function noSuchProject(project: string): CommandError {
  return new CommandError(`There is no project ${quoteWord(project)}: see kvdrive project list`);
}

async function createProject(call: StoreCall): Promise<void> {
  call.validate("NAME", keyNameProblem);
  call.validate("id", projectIdProblem);
  call.validate("max-bytes", sizeProblem);
  const { info, key } = await call.withStore((store) => makeProject(call, store));
  call.print({ ...projectAnswer(info), project_key: key.text, prefix: keyPrefix(key) }, [
    `Project id:   ${info.project}`,
    `Project key:  ${key.text}`,
    "",
    "The key is shown once: keep it as you keep passwords.",
  ]);
}

async function makeProject(
  call: StoreCall,
  store: Store,
): Promise<{ info: ProjectInfo; key: ProjectKey }> {
  try {
    return await store.projects.create(call.get("id"), call.get("NAME"), sizeIn(call));
  } catch (error) {
    if (!(error instanceof BeingDeleted)) throw error;
    const when = "by the server or when it starts next: try again then, or choose another id";
    const problem = `The earlier project ${error.id} is being removed, ${when}`;
    throw new CommandError(problem, { cause: error });
  }
}

async function changeProject(call: StoreCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const project = call.required("ID");
  const changes = await changesIn(call);
  const { info, drives } = await call.withStore(async (store) => {
    const info = await store.projects.update(project, changes);
    if (info === undefined) throw noSuchProject(project);
    return { info, drives: await store.drives(project) };
  });
  const sum = usageOf(drives);
  const { bytes, open_upload_bytes } = sum;
  const limit = info.maxBytes === undefined
    ? ", without a limit"
    : ` of ${sizeText(info.maxBytes)}`;
  const { hostSuffix } = info;
  call.print({ ...projectAnswer(info), ...sum, drives: drives.map(driveAnswer) }, [
    `The project ${project} holds ${sizeText(bytes)}${limit}.`,
    ...(open_upload_bytes > 0
      ? [`Its open uploads hold ${sizeText(open_upload_bytes)} more.`]
      : []),
    ...(bytes + open_upload_bytes > (info.maxBytes ?? Infinity) ? [OVER_LIMIT] : []),
    ...(hostSuffix === undefined ? [] : [`Its owner may choose host names below ${hostSuffix}.`]),
  ]);
}

/** @throws {UsageError} where nothing is to be changed, or a value is none. */
async function changesIn(call: StoreCall): Promise<ProjectChanges> {
  const [limit, suffix] = [call.get("max-bytes"), call.get("host-suffix")];
  if (limit === undefined && suffix === undefined) {
    throw new UsageError("There is nothing to change: give --max-bytes, --host-suffix or both");
  }
  if (limit !== NO_LIMIT) call.validate("max-bytes", limitProblem);
  if (suffix !== NO_LIMIT) {
    const hosts = await HostRules.load(call.serverNames);
    call.validate("host-suffix", (text) => hosts.problemOf(text.toLowerCase()));
  }
  return {
    maxBytes: limit === NO_LIMIT ? null : sizeIn(call),
    hostSuffix: suffix === NO_LIMIT ? null : suffix?.toLowerCase(),
  };
}

function sizeText(bytes: number): string {
  return bytes < 1000 ? formatBytes(bytes) : `${formatBytes(bytes)} (${bytes} bytes)`;
}

/** The size in `--max-bytes`, if there is one. */
function sizeIn(call: StoreCall): number | undefined {
  return parseByteSize(call.get("max-bytes") ?? "");
}

function sizeProblem(text: string): string | undefined {
  return parseByteSize(text) === undefined
    ? `is ${
      quoteWord(text)
    }: it must be a number of bytes, or a size such as 500MB, 10GB, 1.5TB or 10GiB`
    : undefined;
}

function limitProblem(text: string): string | undefined {
  const problem = sizeProblem(text);
  return problem === undefined ? undefined : `${problem}, or ${NO_LIMIT}`;
}

async function listProjects(call: StoreCall): Promise<void> {
  const projects = await call.withStore(async (store) => {
    const infos = await store.projects.list();
    return await Array.fromAsync(infos, async (info) => {
      return { ...projectAnswer(info), ...usageOf(await store.drives(info.project)) };
    });
  });
  const rows = projects.map(({ project_id, name, files, bytes, max_bytes, created }) => {
    const limit = max_bytes === null ? null : formatBytes(max_bytes);
    return [project_id, name, files, formatBytes(bytes), limit, created];
  });
  const headings = ["ID", "NAME", "FILES", "SIZE", "LIMIT", "CREATED"];
  call.printTable({ projects }, headings, rows, "There are no projects.");
}

async function deleteProject(call: StoreCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const project = call.required("ID");
  await call.withStore(async (store) => {
    await requireProject(store, project);
    const drives = await store.drives(project);
    const content = `${plural(drives.length, "drive")}, ${plural(usageOf(drives).files, "file")}`;
    call.confirm(`Delete the project ${project} with its ${content}?`);
    if (!await store.projects.delete(project)) throw noSuchProject(project);
  });
  call.print({ project_id: project }, [
    `The project ${project} is deleted. Its bytes are removed by the server, or when it starts next.`,
  ]);
}
