import {
  givenS3SecretKey,
  NO_S3_SECRET_KEY,
  parseS3SecretKey,
  S3KeyFile,
  type S3SecretKey,
} from "../../store/accounts/s3_secrets.ts";
import { S3KeysUnavailable } from "../../store/engine/errors.ts";
import { type Environment, UsageError } from "../terminal/output.ts";

const VARIABLE = "KVDRIVE_S3_SECRET";

/** The settings that decide what encrypts S3 keys. */
export interface S3SecretSettings {
  /** The file of `--s3-secret-file`. */
  s3SecretFile: string | undefined;
  /** The data folder, which counts if the store is in it. */
  data: string | undefined;
  /** The URL of a shared store. */
  kv: string | undefined;
}

/**
 * Returns what encrypts the secrets of S3 keys: the variable, the file that was given, or a file in the data folder. A
 * shared store has no data folder that all its servers can read.
 *
 * @throws {UsageError} if the variable is invalid, or given beside the file. The value is not repeated.
 */
export function s3SecretKeyOf(
  { s3SecretFile, data, kv }: S3SecretSettings,
  env: Environment,
): S3SecretKey {
  const text = env[VARIABLE] ?? "";
  if (text === "") {
    if (s3SecretFile !== undefined) return S3KeyFile.given(s3SecretFile);
    return kv === undefined && data !== undefined ? S3KeyFile.inFolder(data) : NO_S3_SECRET_KEY;
  }
  if (s3SecretFile !== undefined) {
    throw new UsageError(`The variable ${VARIABLE} and --s3-secret-file exclude each other`);
  }
  const bytes = parseS3SecretKey(text);
  if (bytes !== undefined) return givenS3SecretKey(bytes);
  throw new UsageError(
    `Bad value of ${VARIABLE}: it must be 32 bytes in base64. Create one with: openssl rand -base64 32`,
  );
}

/**
 * Returns what encrypts the secrets of S3 keys, for a server that starts.
 *
 * @throws {UsageError} if the file of `--s3-secret-file` cannot be used.
 */
export async function openS3Secret(
  settings: S3SecretSettings,
  env: Environment,
): Promise<S3SecretKey> {
  const key = s3SecretKeyOf(settings, env);
  const { s3SecretFile } = settings;
  if (s3SecretFile === undefined) return key;
  await key.read().catch((error: unknown) => {
    if (!(error instanceof S3KeysUnavailable)) throw error;
    throw new UsageError(`${error.message} (${s3SecretFile})`, { cause: error });
  });
  return key;
}
