import type { ProjectKeyJson } from "../../../api/admin/json.ts";
import type { Administration } from "../../../client/administration.ts";
import { driveNameProblem, keyNameProblem, namePrefixProblem } from "../../../rules/names.ts";
import { PERMISSIONS } from "../../../rules/rights.ts";
import { KEY_PREFIX_LENGTH } from "../../../rules/secrets.ts";
import { LIFE } from "../../options/value_types.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { quoteWord } from "../../terminal/text.ts";
import { administer } from "../administer.ts";
import type { CommandCall } from "../command_call.ts";

export async function createKey(call: CommandCall): Promise<void> {
  const { project } = call;
  const { prefix, ...wanted } = newKeyOptions(call, "name-prefix");
  const path = ["projects", project, "keys"];
  const made = await administer(
    call,
    (on) =>
      on.create<ProjectKeyJson & { project_key: string }>(path, { ...wanted, name_prefix: prefix }),
  );
  call.print(made, [
    `Project key:  ${made.project_key}`,
    "",
    "The key is shown only once: store it like a password.",
  ]);
}

export async function listKeys(call: CommandCall): Promise<void> {
  const { project } = call;
  const keys = await administer(call, (on) => keysOf(on, project));
  const rows = keys.map((key) => [
    key.prefix,
    key.name,
    key.created,
    ...limitCells(key),
  ]);
  const headings = ["PREFIX", "NAME", "CREATED", ...LIMIT_HEADINGS];
  call.printTable({ keys }, headings, rows, `The project ${project} has no keys.`);
}

export async function revokeKey(call: CommandCall): Promise<void> {
  const { project } = call;
  // A value of another length may be a whole key, which is not repeated.
  call.validate(
    "PREFIX",
    ({ length }) => length === KEY_PREFIX_LENGTH ? undefined : PREFIX_PROBLEM,
  );
  const prefix = call.required("PREFIX");
  await administer(call, async (on) => {
    const keys = await keysOf(on, project);
    const key = keys.find((key) => key.prefix === prefix);
    if (key === undefined) {
      throw new CommandError(
        `The project ${project} has no key with the prefix "${prefix}": see kvdrive key list`,
      );
    }
    const name = key.name === null ? "" : ` ("${key.name}")`;
    const others = keys.length === 1 ? ", which has no other key" : "";
    call.confirm(`Revoke the key ${prefix}${name} of the project ${project}${others}?`);
    await on.delete("projects", project, "keys", prefix);
  });
  call.print({ prefix }, [
    `The key ${prefix} is revoked. Running servers refuse it within 5 seconds.`,
  ]);
}

async function keysOf(on: Administration, project: string): Promise<ProjectKeyJson[]> {
  return (await on.get<{ keys: ProjectKeyJson[] }>(["projects", project, "keys"])).keys;
}

/** What a prefix must be, as the end of a sentence. */
const PREFIX_PROBLEM = `must be the ${KEY_PREFIX_LENGTH} characters that kvdrive key list shows`;

/** The headings of the columns with the limits of keys. */
export const LIMIT_HEADINGS = ["PERMISSIONS", "DRIVES", "NAMES BELOW", "EXPIRES", "LAST USED"];

/** Returns the cells of a key in these columns. */
export function limitCells(
  { permissions, drives, name_prefix, expires, last_used }: Omit<
    ProjectKeyJson,
    "prefix" | "name" | "created"
  >,
): (string | null)[] {
  return [
    permissions.length === PERMISSIONS.length ? "all" : permissions.join(","),
    drives === null ? "all" : drives.join(","),
    name_prefix,
    expires,
    last_used,
  ];
}

/** What a new key is to be, as the API has it for S3 keys. */
interface NewKey {
  name: string | undefined;
  permissions: readonly string[] | undefined;
  drives: readonly string[] | undefined;
  prefix: string | undefined;
  /** Seconds. */
  expires_in: number | undefined;
}

/** Parses the options that describe a new key. @param prefixOption Its names begin with this option. @throws {UsageError} */
export function newKeyOptions(call: CommandCall, prefixOption: string): NewKey {
  call.validate("name", keyNameProblem);
  call.validate(prefixOption, namePrefixProblem);
  return {
    name: call.get("name"),
    permissions: listOf(call, "permissions", permissionProblem),
    drives: listOf(call, "drives", driveNameProblem),
    prefix: call.get(prefixOption),
    expires_in: call.parsed("expires-in", LIFE),
  };
}

/** Parses a list with commas; `undefined` if the option is not given. */
export function listOf(
  call: CommandCall,
  option: string,
  problemOf: (item: string) => string | undefined,
): string[] | undefined {
  const items = call.get(option)?.split(",");
  const problem = items?.map(problemOf).find((one) => one !== undefined);
  if (problem === undefined) return items;
  throw new UsageError(`A value of --${option} ${problem}`);
}

function permissionProblem(text: string): string | undefined {
  return PERMISSIONS.some((one) => one === text)
    ? undefined
    : `is ${quoteWord(text)}: choose from ${PERMISSIONS.join(", ")}`;
}
