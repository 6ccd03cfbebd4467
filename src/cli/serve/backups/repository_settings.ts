/**
 * The repository that a command or a server names: its target, and what opens it.
 *
 * @module
 */
import type { RepositorySettings } from "../../../repository/repository.ts";
import { isS3 } from "../../../repository/targets/target.ts";
import { failureReason } from "../../../rules/system_error.ts";
import type { RepositoryOptions } from "../../options/serve_options.ts";
import { type Environment, UsageError } from "../../terminal/output.ts";

export const UNENCRYPTED_WARNING = "Warning: the snapshots are not encrypted, so the provider of " +
  "the target can read all files";

const DEFAULT_REGION = "us-east-1";

/** Returns the settings of a repository. @throws {UsageError} if they are incomplete, or a file cannot be read. */
export async function repositorySettings(
  { target, s3Endpoint, passphraseFile, isUnencryptedAllowed }: RepositoryOptions,
  env: Environment,
): Promise<RepositorySettings> {
  const passphrase = await passphraseOf(passphraseFile, env["KVDRIVE_BACKUP_PASSPHRASE"]);
  return {
    target,
    isUnencryptedAllowed,
    ...(passphrase !== undefined && { passphrase }),
    ...(isS3(target) && { s3: await s3SettingsOf(s3Endpoint, env) }),
  };
}

async function s3SettingsOf(
  given: string | undefined,
  env: Environment,
): Promise<RepositorySettings["s3"]> {
  const set = (name: string) => env[name] === "" ? undefined : env[name];
  const region = set("AWS_REGION") ?? set("AWS_DEFAULT_REGION") ?? DEFAULT_REGION;
  const endpoint = given ?? set("AWS_ENDPOINT_URL_S3") ?? set("AWS_ENDPOINT_URL") ??
    `https://s3.${region}.amazonaws.com`;
  if (!/^https?:\/\/[^\s/?#@]+\/?$/i.test(endpoint) || !URL.canParse(endpoint)) {
    throw new UsageError(
      `Bad address of S3 "${endpoint}": it must be a URL like https://s3.example.com, without a path`,
    );
  }
  const accessKeyId = set("AWS_ACCESS_KEY_ID");
  const secretAccessKey = set("AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new UsageError(
      "S3 needs an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
  }
  const sessionToken = set("AWS_SESSION_TOKEN");
  const authorities = await authoritiesIn(set("DENO_CERT"));
  return { endpoint, region, accessKeyId, secretAccessKey, sessionToken, authorities };
}

/** Returns the certificates in a file. @throws {UsageError} if it cannot be read. */
async function authoritiesIn(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    throw new UsageError(`Cannot read ${file}, which DENO_CERT names: ${failureReason(error)}`);
  }
}

/** Returns a passphrase from a file, or else from a variable; `undefined` without either. @throws {UsageError} */
export async function passphraseOf(
  file: string | undefined,
  variable: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return variable === "" ? undefined : variable;
  let text: string;
  try {
    text = await Deno.readTextFile(file);
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read the file of the passphrase ${file}: ${reason}`);
  }
  // Editors add what cannot be seen: a byte order mark, and line ends.
  const passphrase = text.replace(/^\uFEFF/, "").replace(/[\r\n]+$/, "");
  if (passphrase !== "") return passphrase;
  throw new UsageError(`The file of the passphrase ${file} is empty`);
}
