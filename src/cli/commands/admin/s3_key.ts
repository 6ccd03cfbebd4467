import type { S3KeyJson } from "../../../api/admin/json.ts";
import type { Administration } from "../../../client/administration.ts";
import { isAccessKeyId } from "../../../rules/secrets.ts";
import { CommandError } from "../../terminal/output.ts";
import { administer } from "../administer.ts";
import type { CommandCall } from "../command_call.ts";
import { LIMIT_HEADINGS, limitCells, newKeyOptions } from "./key.ts";

export async function createS3Key(call: CommandCall): Promise<void> {
  const { project } = call;
  const wanted = newKeyOptions(call, "prefix");
  const made = await administer(
    call,
    (on) =>
      on.create<S3KeyJson & { secret_access_key: string }>(
        ["projects", project, "s3-keys"],
        wanted,
      ),
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
  const keys = await administer(call, (on) => keysOf(on, project));
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
  await administer(call, async (on) => {
    const key = (await keysOf(on, project)).find(({ access_key_id }) => access_key_id === id);
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

async function keysOf(on: Administration, project: string): Promise<S3KeyJson[]> {
  return (await on.get<{ s3_keys: S3KeyJson[] }>(["projects", project, "s3-keys"])).s3_keys;
}

/** What an id must be, as the end of a sentence. */
const ID_PROBLEM = "must be the 20 characters that kvdrive s3-key list shows";
