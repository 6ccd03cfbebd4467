import type { ProjectDetails } from "../../../client/administration.ts";
import { keyNameProblem } from "../../../rules/names.ts";
import { formatBytes, parseByteSize } from "../../../rules/units.ts";
import { UsageError } from "../../terminal/output.ts";
import { plural, quoteWord } from "../../terminal/text.ts";
import { projectIdProblem, sizeCell } from "../command_call.ts";
import type { AdminCall } from "./admin_call.ts";

/** The value that removes a setting. */
const NONE = "none";

const OVER_LIMIT = "That is over the limit: nothing can be added until enough is deleted.";

/** The longest time that the trash keeps files, in days (sharing contract). */
const MAX_TRASH_DAYS = 365;

export async function createProject(call: AdminCall): Promise<void> {
  call.validate("NAME", keyNameProblem);
  call.validate("id", projectIdProblem);
  call.validate("max-bytes", sizeProblem);
  const wanted = { project_id: call.get("id"), name: call.get("NAME"), max_bytes: sizeIn(call) };
  const made = await call.administer((on) => on.createProject(wanted));
  call.print(made, [
    `Project id:   ${made.project_id}`,
    `Project key:  ${made.project_key}`,
    "",
    "The key is shown only once: store it like a password.",
  ]);
}

export async function listProjects(call: AdminCall): Promise<void> {
  const projects = await call.administer((on) => on.listProjects());
  const rows = projects.map(({ project_id, name, files, bytes, max_bytes, created }) => {
    const limit = max_bytes === null ? null : sizeCell(max_bytes);
    return [project_id, name, files, sizeCell(bytes), limit, created];
  });
  const headings = ["ID", "NAME", "FILES", "SIZE", "LIMIT", "CREATED"];
  call.printTable({ projects }, headings, rows, "There are no projects.");
}

export async function showProject(call: AdminCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const details = await call.administer((on) => on.showProject(call.required("ID")));
  const { name, created, drives } = details;
  call.print(details, [
    `Created:  ${created}`,
    ...(name === null ? [] : [`Name:     ${name}`]),
    `Trash:    ${trashOf(details)}`,
    ...linesOf(details),
    ...drives.map(({ drive_name, files, bytes }) =>
      `  ${drive_name}: ${plural(files, "file")}, ${exactSize(bytes)}`
    ),
  ]);
}

export async function changeProject(call: AdminCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const [limit, suffix, days] = ["max-bytes", "host-suffix", "trash-days"].map((name) =>
    call.get(name)
  );
  if (limit === undefined && suffix === undefined && days === undefined) {
    throw new UsageError("Nothing to change: give --max-bytes, --host-suffix or --trash-days");
  }
  if (limit !== NONE) call.validate("max-bytes", limitProblem);
  call.validate("trash-days", daysProblem);
  const changes = {
    max_bytes: limit === NONE ? null : sizeIn(call),
    host_suffix: suffix === NONE ? null : suffix?.toLowerCase(),
    trash_days: days === undefined ? undefined : Number(days),
  };
  const details = await call.administer((on) => on.changeProject(call.required("ID"), changes));
  call.print(details, [
    ...linesOf(details),
    ...(days === undefined
      ? []
      : [`Its trash ${details.trash_days === 0 ? "is " : ""}${trashOf(details)}.`]),
  ]);
}

/** Whether deleted files are kept, and for how long. */
function trashOf({ trash_days }: ProjectDetails): string {
  return trash_days === 0 ? "off" : `keeps files for ${plural(trash_days, "day")}`;
}

/** What a project holds and may hold, as sentences. */
function linesOf(details: ProjectDetails): string[] {
  const { project_id, bytes, open_upload_bytes, trash_bytes, max_bytes, host_suffix } = details;
  const limit = max_bytes === null ? ", without a limit" : ` of ${exactSize(max_bytes)}`;
  return [
    `The project ${project_id} holds ${exactSize(bytes)}${limit}.`,
    ...(open_upload_bytes > 0
      ? [`Its open uploads hold ${exactSize(open_upload_bytes)} more.`]
      : []),
    ...(trash_bytes > 0 ? [`Its trash holds ${exactSize(trash_bytes)} more.`] : []),
    ...(bytes + open_upload_bytes + trash_bytes > (max_bytes ?? Infinity) ? [OVER_LIMIT] : []),
    ...(host_suffix === null ? [] : [`Its owner may choose host names below ${host_suffix}.`]),
  ];
}

export async function deleteProject(call: AdminCall): Promise<void> {
  call.validate("ID", projectIdProblem);
  const project = call.required("ID");
  await call.administer(async (on) => {
    const { drives, files } = await on.showProject(project);
    const content = `${plural(drives.length, "drive")}, ${plural(files, "file")}`;
    call.confirm(`Delete the project ${project} with its ${content}?`);
    await on.deleteProject(project);
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
function sizeIn(call: AdminCall): number | undefined {
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

function daysProblem(text: string): string | undefined {
  return /^\d{1,3}$/.test(text) && Number(text) <= MAX_TRASH_DAYS
    ? undefined
    : `is ${quoteWord(text)}: it must be a whole number from 0 to ${MAX_TRASH_DAYS}`;
}
