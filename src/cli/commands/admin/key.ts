import type { ProjectKeyJson, S3KeyJson } from "../../../api/admin/json.ts";
import type { Administration } from "../../../client/administration.ts";
import { driveNameProblem, keyNameProblem, namePrefixProblem } from "../../../rules/names.ts";
import { PERMISSIONS } from "../../../rules/rights.ts";
import { isAccessKeyId, KEY_PREFIX_LENGTH } from "../../../rules/secrets.ts";
import { LIFE } from "../../options/value_types.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { quoteWord } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";

export async function createKey(call: CommandCall): Promise<void> {
  const { project } = call;
  const { prefix, ...wanted } = newKeyOptions(call, "name-prefix");
  const path = ["projects", project, "keys"];
  const made = await call.administer((on) =>
    on.create<ProjectKeyJson & { project_key: string }>(path, { ...wanted, name_prefix: prefix })
  );
  call.print(made, [
    `Project key:  ${made.project_key}`,
    "",
    "The key is shown only once: store it like a password.",
  ]);
}

export async function listKeys(call: CommandCall): Promise<void> {
  const { project } = call;
  const keys = await call.administer((on) => keysOf(on, project));
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
  await call.administer(async (on) => {
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
const LIMIT_HEADINGS = ["PERMISSIONS", "DRIVES", "NAMES BELOW", "EXPIRES", "LAST USED"];

/** Returns the cells of a key in these columns. */
function limitCells(
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
function newKeyOptions(call: CommandCall, prefixOption: string): NewKey {
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

export async function createS3Key(call: CommandCall): Promise<void> {
  const { project } = call;
  const wanted = newKeyOptions(call, "prefix");
  const made = await call.administer((on) =>
    on.create<S3KeyJson & { secret_access_key: string }>(
      ["projects", project, "s3-keys"],
      wanted,
    )
  );
  call.print(made, [
    `Access key id:      ${made.access_key_id}`,
    `Secret access key:  ${made.secret_access_key}`,
    "",
    "The secret is shown only once: store it like a password.",
  ]);
}

export async function listS3Keys(call: CommandCall): Promise<void> {
  const { project } = call;
  const keys = await call.administer((on) => s3KeysOf(on, project));
  const rows = keys.map(({ access_key_id, prefix, usable, ...key }) => [
    access_key_id,
    key.name,
    key.created,
    ...limitCells({ ...key, name_prefix: prefix }),
    usable ? "yes" : "no",
  ]);
  const headings = ["ACCESS KEY ID", "NAME", "CREATED", ...LIMIT_HEADINGS, "USABLE"];
  call.printTable({ s3_keys: keys }, headings, rows, `The project ${project} has no S3 keys.`);
}

export async function revokeS3Key(call: CommandCall): Promise<void> {
  const { project } = call;
  // Another value may be a secret, which is not repeated.
  call.validate("ACCESS-KEY-ID", (text) => isAccessKeyId(text) ? undefined : ID_PROBLEM);
  const id = call.required("ACCESS-KEY-ID");
  await call.administer(async (on) => {
    const key = (await s3KeysOf(on, project)).find(({ access_key_id }) => access_key_id === id);
    if (key === undefined) {
      throw new CommandError(
        `The project ${project} has no S3 key ${id}: see kvdrive s3-key list`,
      );
    }
    const name = key.name === null ? "" : ` ("${key.name}")`;
    call.confirm(`Revoke the S3 key ${id}${name} of the project ${project}?`);
    await on.delete("projects", project, "s3-keys", id);
  });
  call.print({ access_key_id: id }, [
    `The S3 key ${id} is revoked. Running servers refuse it within 5 seconds.`,
  ]);
}

async function s3KeysOf(on: Administration, project: string): Promise<S3KeyJson[]> {
  return (await on.get<{ s3_keys: S3KeyJson[] }>(["projects", project, "s3-keys"])).s3_keys;
}

/** What an id must be, as the end of a sentence. */
const ID_PROBLEM = "must be the 20 characters that kvdrive s3-key list shows";
