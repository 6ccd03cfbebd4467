import { RepositoryError } from "../errors.ts";
import { FolderTarget } from "./folder_target.ts";
import { type S3Settings, S3Target } from "./s3_target.ts";
import { isS3, type Target } from "./target.ts";

/** A target as the command line names it, and what it takes to reach it. It can be sent to a thread. */
export interface TargetSettings {
  /** A folder, or `s3://BUCKET/PREFIX`. */
  target: string;
  s3?: S3Settings | undefined;
}

/** Opens a target. Nothing is read or written yet. @throws {RepositoryError} if its name is invalid. */
export function openTarget({ target, s3 }: TargetSettings): Target {
  if (!isS3(target)) return new FolderTarget(target);
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9._-]*)(?:\/(.*))?$/i.exec(target) ?? [];
  // Addresses have no such parts.
  const hasDots = prefix.split("/").some((part) => part === "." || part === "..");
  if (bucket === undefined || hasDots || s3 === undefined) {
    throw new RepositoryError(`The target "${target}" is not valid: write s3://BUCKET/PREFIX`);
  }
  return new S3Target(bucket, prefix.replaceAll(/^\/+|\/+$/g, ""), s3);
}
