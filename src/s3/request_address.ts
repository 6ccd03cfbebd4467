import { hostnameOf } from "../rules/hosts.ts";
import { byteLength, driveNameProblem, MAX_FILE_NAME } from "../rules/names.ts";
import { S3Error } from "./s3_error.ts";

/** What a request is about. Both names are empty for all buckets, and the key is empty for a bucket. */
export interface RequestAddress {
  bucket: string;
  key: string;
  /** The path, percent-encoded as it was sent, with the slash at its beginning. */
  path: string;
  /** The query, percent-encoded as it was sent, without `?`. */
  query: string;
}

/**
 * Finds the bucket and the key of a request: in its path, or, under the domain of S3, the bucket in the host name
 * ("virtual-hosted style").
 *
 * @param url As it was sent: names may have `..` and `//`, which `URL` would resolve.
 * @param domain The domain of S3, if it has one.
 * @throws {S3Error} if either is not valid.
 */
export function parseAddress(
  url: string,
  host: string | null,
  domain: string | undefined,
): RequestAddress {
  const { path, query } = splitUrl(url);
  const ofHost = bucketOfHost(host ?? "", domain);
  const rest = path.slice(1);
  if (ofHost !== undefined) {
    return { bucket: checkedBucket(ofHost, true), key: checkedKey(decode(rest)), path, query };
  }
  const slash = rest.indexOf("/");
  const bucket = decode(slash === -1 ? rest : rest.slice(0, slash));
  const key = slash === -1 ? "" : decode(rest.slice(slash + 1));
  return { bucket: checkedBucket(bucket, rest !== ""), key: checkedKey(key), path, query };
}

function splitUrl(url: string): { path: string; query: string } {
  const authority = url.indexOf("://") + 3;
  const slash = url.indexOf("/", authority);
  const question = url.indexOf("?", authority);
  const end = question === -1 ? url.length : question;
  const path = slash === -1 || slash > end ? "/" : url.slice(slash, end);
  return { path, query: question === -1 ? "" : url.slice(question + 1) };
}

/** Returns the bucket that a host name names; `undefined` if it is the domain itself or another name. */
function bucketOfHost(host: string, domain: string | undefined): string | undefined {
  const name = hostnameOf(host);
  const suffix = `.${domain}`;
  return domain !== undefined && name.endsWith(suffix)
    ? name.slice(0, name.length - suffix.length)
    : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error("InvalidURI", "The path is not percent-encoded UTF-8: encode it");
  }
}

/** @param isRequired Whether the request names a bucket at all. */
function checkedBucket(bucket: string, isRequired: boolean): string {
  const problem = isRequired ? driveNameProblem(bucket) : undefined;
  if (problem === undefined) return bucket;
  throw new S3Error("InvalidBucketName", `The bucket name ${problem}`, { BucketName: bucket });
}

function checkedKey(key: string): string {
  if (byteLength(key) <= MAX_FILE_NAME) return key;
  throw new S3Error("KeyTooLongError", `The key has more than ${MAX_FILE_NAME} bytes of UTF-8`, {
    MaxSizeAllowed: String(MAX_FILE_NAME),
    Size: String(byteLength(key)),
  });
}

/** A name that is allowed for new buckets: 3 to 63 characters, the labels of a host name. */
const BUCKET_NAME =
  /^(?=.{3,63}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const IP_ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Checks the name of a new bucket. @throws {S3Error} */
export function assertNewBucketName(bucket: string): void {
  if (BUCKET_NAME.test(bucket) && !IP_ADDRESS.test(bucket)) return;
  throw new S3Error(
    "InvalidBucketName",
    "The name of a new bucket must have 3 to 63 of a-z, 0-9, . and -, with a letter or a digit at both ends and around each dot",
    { BucketName: bucket },
  );
}
