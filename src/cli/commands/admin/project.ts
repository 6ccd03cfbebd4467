import type { DriveJson, ProjectJson, ProjectUsageJson } from "../../../api/admin/json.ts";
import type { Administration } from "../../../client/administration.ts";
import { keyNameProblem, MAX_LIST } from "../../../rules/names.ts";
import { formatBytes, MAX_TRASH_DAYS, parseByteSize } from "../../../rules/units.ts";
import { UsageError } from "../../terminal/output.ts";
import { plural, quoteWord } from "../../terminal/text.ts";
import { projectIdProblem, sizeCell } from "../command_call.ts";
import type { CommandCall } from "../command_call.ts";

/** A project and its first drives, 1000 at most. */
type ProjectDetails = ProjectUsageJson & { drives: DriveJson[] };

/** The value that removes a setting. */
const NONE = "none";

const OVER_LIMIT = "That is over the limit: nothing can be added until enough is deleted.";

/** The longest time that changes are kept, in days (docs/changes.md). */
const MAX_CHANGE_DAYS = 90;

export async function createProject(call: CommandCall): Promise<void> {
  call.validate("NAME", keyNameProblem);
  call.validate("id", projectIdProblem);
  call.validate("max-bytes", sizeProblem);
  call.validate("max-files", countProblem);
  call.validate("trash-days", daysProblem(MAX_TRASH_DAYS));
  const limits = { max_bytes: sizeIn(call), max_files: countIn(call) };
  const trash_days = daysIn(call, "trash-days");
  const wanted = { project_id: call.get("id"), name: call.get("NAME"), ...limits, trash_days };
  const made = await call.administer((on) =>
    on.create<ProjectJson & { project_key: string }>(["projects"], wanted)
  );
  call.print(made, [
    `Project id:   ${made.project_id}`,
    `Project key:  ${made.project_key}`,
    "",
    "The key is shown only once: store it like a password.",
  ]);
}

export async function listProjects(call: CommandCall): Promise<void> {
  const { projects } = await call.administer((on) =>
    on.get<{ projects: ProjectUsageJson[] }>(["projects"])
  );
  const rows = projects.map(({ project_id, name, files, bytes, max_bytes, created }) => {
    const limit = max_bytes === null ? null : sizeCell(max_bytes);
    return [project_id, name, files, sizeCell(bytes), limit, created];
  });
  const headings = ["ID", "NAME", "FILES", "SIZE", "LIMIT", "CREATED"];
  call.printTable({ projects }, headings, rows, "There are no projects.");
}

export async function showProject(call: CommandCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const details = await call.administer((on) => detailsOf(on, call.required("ID")));
  const { name, created, drives } = details;
  const isCut = drives.length === MAX_LIST;
  call.print(details, [
    `Created:  ${created}`,
    ...(name === null ? [] : [`Name:     ${name}`]),
    `Trash:    ${trashOf(details)}`,
    `Changes:  ${changesOf(details)}`,
    ...linesOf(details),
    ...drives.map(({ drive_name, files, bytes }) =>
      `  ${drive_name}: ${plural(files, "file")}, ${exactSize(bytes)}`
    ),
    ...(isCut ? [`  These are the first ${MAX_LIST} drives.`] : []),
  ]);
}

export async function changeProject(call: CommandCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const options = ["name", "max-bytes", "max-files", "host-suffix", "trash-days", "change-days"];
  const [name, limit, files, suffix, days, changeDays] = options.map((name) => call.get(name));
  if (options.every((name) => call.get(name) === undefined)) {
    throw new UsageError(
      "Nothing to change: give --max-bytes, --max-files, --host-suffix, --trash-days or --change-days, or --name",
    );
  }
  if (name !== NONE) call.validate("name", keyNameProblem);
  if (limit !== NONE) call.validate("max-bytes", orNone(sizeProblem));
  if (files !== NONE) call.validate("max-files", orNone(countProblem));
  call.validate("trash-days", daysProblem(MAX_TRASH_DAYS));
  call.validate("change-days", daysProblem(MAX_CHANGE_DAYS));
  const changes = {
    name: name === NONE ? null : name,
    max_bytes: limit === NONE ? null : sizeIn(call),
    max_files: files === NONE ? null : countIn(call),
    host_suffix: suffix === NONE ? null : suffix?.toLowerCase(),
    trash_days: daysIn(call, "trash-days"),
    change_days: daysIn(call, "change-days"),
  };
  const details = await call.administer(async (on) => {
    const path = ["projects", call.required("ID")];
    return withoutDisk(await on.set<ProjectDetails>("PATCH", path, changes));
  });
  call.print(details, [
    ...linesOf(details),
    ...(days === undefined
      ? []
      : [`Its trash ${details.trash_days === 0 ? "is " : ""}${trashOf(details)}.`]),
    ...(changeDays === undefined ? [] : [`Its feed of changes is ${changesOf(details)}.`]),
  ]);
}

function daysIn(call: CommandCall, option: string): number | undefined {
  const days = call.get(option);
  return days === undefined ? undefined : Number(days);
}

async function detailsOf(on: Administration, project: string): Promise<ProjectDetails> {
  return withoutDisk(await on.get<ProjectDetails>(["projects", project]));
}

/** The disk is that of all projects. */
function withoutDisk(
  { disk: _disk, ...details }: ProjectDetails & { disk?: unknown },
): ProjectDetails {
  return details;
}

/** Whether deleted files are kept, and for how long. */
function trashOf({ trash_days }: ProjectDetails): string {
  return trash_days === 0 ? "off" : `keeps files for ${plural(trash_days, "day")}`;
}

/** Whether changes are kept, and for how long. */
function changesOf({ change_days = 0 }: ProjectDetails): string {
  return change_days === 0 ? "off" : `kept for ${plural(change_days, "day")}`;
}

/** What a project holds and may hold, as sentences. */
function linesOf(details: ProjectDetails): string[] {
  const { project_id, bytes, open_upload_bytes, trash_bytes, max_bytes, host_suffix } = details;
  const { files, trash_files, max_files } = details;
  const limit = max_bytes === null ? ", without a limit" : ` of ${exactSize(max_bytes)}`;
  const isOver = bytes + open_upload_bytes + trash_bytes > (max_bytes ?? Infinity) ||
    files + trash_files > (max_files ?? Infinity);
  return [
    `The project ${project_id} holds ${exactSize(bytes)}${limit}.`,
    ...(max_files === null
      ? []
      : [`It has ${files + trash_files} of ${plural(max_files, "file")}.`]),
    ...(open_upload_bytes > 0
      ? [`Its open uploads hold ${exactSize(open_upload_bytes)} more.`]
      : []),
    ...(trash_bytes > 0 ? [`Its trash holds ${exactSize(trash_bytes)} more.`] : []),
    ...(isOver ? [OVER_LIMIT] : []),
    ...(host_suffix === null ? [] : [`Its owner may choose host names below ${host_suffix}.`]),
  ];
}

export async function deleteProject(call: CommandCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const project = call.required("ID");
  await call.administer(async (on) => {
    const { drives, files } = await detailsOf(on, project);
    const more = drives.length === MAX_LIST ? "at least " : "";
    const content = `${more}${plural(drives.length, "drive")}, ${plural(files, "file")}`;
    call.confirm(`Delete the project ${project} with its ${content}?`);
    await on.delete("projects", project);
  });
  call.print({ project_id: project }, [
    `The project ${project} is deleted. The server removes its files in the background, or when it starts.`,
  ]);
}

/** Returns "512 B", or "1.5 kB (1500 bytes)". */
function exactSize(bytes: number): string {
  return bytes < 1000 ? formatBytes(bytes) : `${formatBytes(bytes)} (${bytes} bytes)`;
}

/** Parses `--max-bytes`; `undefined` if it is not given. */
function sizeIn(call: CommandCall): number | undefined {
  return parseByteSize(call.get("max-bytes") ?? "");
}

function sizeProblem(text: string): string | undefined {
  return parseByteSize(text) === undefined
    ? `is ${quoteWord(text)}: it must be a size like 500MB, 10GB or 10GiB`
    : undefined;
}

/** Parses `--max-files`; `undefined` if it is not given. */
function countIn(call: CommandCall): number | undefined {
  const text = call.get("max-files");
  return text === undefined ? undefined : Number(text);
}

function countProblem(text: string): string | undefined {
  return /^[1-9]\d{0,14}$/.test(text)
    ? undefined
    : `is ${quoteWord(text)}: it must be a whole number from 1 on`;
}

type ProblemOf = (text: string) => string | undefined;

function orNone(problemOf: ProblemOf): ProblemOf {
  return (text) => {
    const problem = problemOf(text);
    return problem === undefined ? undefined : `${problem}, or ${NONE}`;
  };
}

function daysProblem(max: number): ProblemOf {
  return (text) =>
    /^\d{1,3}$/.test(text) && Number(text) <= max
      ? undefined
      : `is ${quoteWord(text)}: it must be a whole number from 0 to ${max}`;
}
