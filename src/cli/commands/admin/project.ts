import { driveJson, projectJson, projectUsageJson } from "../../../api/admin/json.ts";
import { HostRules } from "../../../rules/hosts.ts";
import { keyNameProblem } from "../../../rules/names.ts";
import { keyPrefix, type ProjectKey } from "../../../rules/secrets.ts";
import { formatBytes, parseByteSize } from "../../../rules/units.ts";
import type { ProjectChanges, ProjectInfo } from "../../../store/accounts/projects.ts";
import { BeingDeleted } from "../../../store/engine/errors.ts";
import type { Store } from "../../../store/store.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import type { Cell } from "../../terminal/table.ts";
import { plural, quoteWord } from "../../terminal/text.ts";
import { projectIdProblem, type StoreCall } from "../store_call.ts";

/** The value that removes a setting. */
const NONE = "none";

const OVER_LIMIT = "That is over the limit: nothing can be added until enough is deleted.";

/** Returns a project. @throws {CommandError} if there is none. */
export async function requireProject(store: Store, project: string): Promise<ProjectInfo> {
  const info = await store.projects.get(project);
  if (info === undefined) throw noSuchProject(project);
  return info;
}

export function noSuchProject(project: string): CommandError {
  return new CommandError(`There is no project ${quoteWord(project)}: see kvdrive project list`);
}

export async function createProject(call: StoreCall): Promise<void> {
  call.validate("NAME", keyNameProblem);
  call.validate("id", projectIdProblem);
  call.validate("max-bytes", sizeProblem);
  const { info, key } = await call.withStore((store) => makeProject(call, store));
  call.print({ ...projectJson(info), project_key: key.text, prefix: keyPrefix(key) }, [
    `Project id:   ${info.project}`,
    `Project key:  ${key.text}`,
    "",
    "The key is shown only once: store it like a password.",
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
    const problem = `A deleted project "${error.id}" is still being removed by the server`;
    throw new CommandError(`${problem}. Try again later, or choose another id`, { cause: error });
  }
}

export async function changeProject(call: StoreCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const project = call.required("ID");
  const changes = await changesIn(call);
  const { info, drives } = await call.withStore(async (store) => {
    const info = await store.projects.update(project, changes);
    if (info === undefined) throw noSuchProject(project);
    return { info, drives: await store.drives(project) };
  });
  const json = projectUsageJson(info, drives);
  const { bytes, open_upload_bytes, trash_bytes } = json;
  const limit = info.maxBytes === undefined
    ? ", without a limit"
    : ` of ${exactSize(info.maxBytes)}`;
  const { hostSuffix } = info;
  call.print({ ...json, drives: drives.map(driveJson) }, [
    `The project ${project} holds ${exactSize(bytes)}${limit}.`,
    ...(open_upload_bytes > 0
      ? [`Its open uploads hold ${exactSize(open_upload_bytes)} more.`]
      : []),
    ...(trash_bytes > 0 ? [`Its trash holds ${exactSize(trash_bytes)} more.`] : []),
    ...(bytes + open_upload_bytes + trash_bytes > (info.maxBytes ?? Infinity) ? [OVER_LIMIT] : []),
    ...(hostSuffix === undefined ? [] : [`Its owner may choose host names below ${hostSuffix}.`]),
  ]);
}

/** Parses the changes. @throws {UsageError} if there are none, or a value is invalid. */
async function changesIn(call: StoreCall): Promise<ProjectChanges> {
  const [limit, suffix] = [call.get("max-bytes"), call.get("host-suffix")];
  if (limit === undefined && suffix === undefined) {
    throw new UsageError("Nothing to change: give --max-bytes, --host-suffix or both");
  }
  if (limit !== NONE) call.validate("max-bytes", limitProblem);
  if (suffix !== NONE) {
    const hosts = await HostRules.load(call.serverNames);
    call.validate("host-suffix", (text) => hosts.problemOf(text.toLowerCase()));
  }
  return {
    maxBytes: limit === NONE ? null : sizeIn(call),
    hostSuffix: suffix === NONE ? null : suffix?.toLowerCase(),
  };
}

/** Returns a size as a cell: "1.5 MB" on a terminal, else the exact number. */
function sizeCell(bytes: number): Cell {
  return Deno.stdout.isTerminal() ? formatBytes(bytes) : bytes;
}

/** Returns "512 B", or "1.5 kB (1500 bytes)". */
function exactSize(bytes: number): string {
  return bytes < 1000 ? formatBytes(bytes) : `${formatBytes(bytes)} (${bytes} bytes)`;
}

/** Parses `--max-bytes`; `undefined` if it is not given. */
function sizeIn(call: StoreCall): number | undefined {
  return parseByteSize(call.get("max-bytes") ?? "");
}

function sizeProblem(text: string): string | undefined {
  return parseByteSize(text) === undefined
    ? `is ${quoteWord(text)}: it must be a size like 500MB, 10GB or 10GiB`
    : undefined;
}

function limitProblem(text: string): string | undefined {
  const problem = sizeProblem(text);
  return problem === undefined ? undefined : `${problem}, or ${NONE}`;
}

export async function listProjects(call: StoreCall): Promise<void> {
  const projects = await call.withStore(async (store) => {
    const infos = await store.projects.list();
    return await Array.fromAsync(infos, async (info) => {
      return projectUsageJson(info, await store.drives(info.project));
    });
  });
  const rows = projects.map(({ project_id, name, files, bytes, max_bytes, created }) => {
    const limit = max_bytes === null ? null : sizeCell(max_bytes);
    return [project_id, name, files, sizeCell(bytes), limit, created];
  });
  const headings = ["ID", "NAME", "FILES", "SIZE", "LIMIT", "CREATED"];
  call.printTable({ projects }, headings, rows, "There are no projects.");
}

export async function deleteProject(call: StoreCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const project = call.required("ID");
  await call.withStore(async (store) => {
    const info = await requireProject(store, project);
    const drives = await store.drives(project);
    const { files } = projectUsageJson(info, drives);
    const content = `${plural(drives.length, "drive")}, ${plural(files, "file")}`;
    call.confirm(`Delete the project ${project} with its ${content}?`);
    if (!await store.projects.delete(project)) throw noSuchProject(project);
  });
  call.print({ project_id: project }, [
    `The project ${project} is deleted. The server removes its files in the background, or when it starts.`,
  ]);
}
