import { S3SecretBox, type S3SecretKey } from "../../../store/accounts/s3_secrets.ts";
import { S3KeysUnavailable } from "../../../store/engine/errors.ts";
import type { S3KeyEntry } from "../../../store/verify/verify.ts";
import { plural } from "../../terminal/text.ts";

/** The S3 keys of a store, in the JSON of a result. */
export interface S3KeysFound {
  total: number;
  /** Those whose secrets cannot be decrypted. */
  unusable: number;
  /** A sentence; `null` if all can be used. */
  problem: string | null;
}

/** Finds out which S3 keys can be used with what encrypts their secrets. */
export async function checkS3Keys(
  keys: readonly S3KeyEntry[],
  secretKey: S3SecretKey,
): Promise<S3KeysFound> {
  const box = new S3SecretBox(secretKey);
  const problems: string[] = [];
  for (const { accessKeyId, record: { project, secret } } of keys) {
    try {
      await box.open(secret, { accessKeyId, project });
    } catch (error) {
      if (!(error instanceof S3KeysUnavailable)) throw error;
      problems.push(error.message);
    }
  }
  const [total, unusable] = [keys.length, problems.length];
  const problem = unusable === 0
    ? null
    : `${problems[0]}. This concerns ${unusable} of ${plural(total, "S3 key")}`;
  return { total, unusable, problem };
}
