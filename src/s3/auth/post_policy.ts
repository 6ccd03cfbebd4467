/**
 * Presigned forms: a browser may upload what a signed policy allows
 * (docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { parseUtcTime } from "../../rules/dates.ts";
import { isSameSecret } from "../../rules/secrets.ts";
import { S3Error } from "../s3_error.ts";
import { ALGORITHM, parseAmzDate, sign, SigningKeys } from "./signing_key.ts";
import { parseCredential, unsupportedAlgorithm } from "./presented_signature.ts";
import { type SecretLookup, unknownKey } from "./signature.ts";

/** A form that came with a policy. */
export interface SignedForm {
  /** The fields by name in lower case, without the file. */
  fields: ReadonlyMap<string, string>;
  /** The bucket that the form was sent to. */
  bucket: string;
}

/** A form that its policy allows. */
export interface VerifiedForm<K> {
  key: K;
  accessKeyId: string;
  /** Bytes that the file must have at least and may have at most; absent without such a condition. */
  size: SizeRange | undefined;
}

export interface SizeRange {
  min: number;
  max: number;
}

/**
 * Checks the signature of a form's policy, and the form against the policy.
 *
 * @param now Milliseconds since 1970.
 * @throws {S3Error}
 */
export async function verifyPostPolicy<K>(
  form: SignedForm,
  lookup: SecretLookup<K>,
  now: number,
  keys: SigningKeys = new SigningKeys(),
): Promise<VerifiedForm<K>> {
  const { fields } = form;
  refuseOtherKinds(fields);
  const policy = fields.get("policy") ?? "";
  if (requiredField(fields, "x-amz-algorithm") !== ALGORITHM) {
    throw new S3Error("InvalidArgument", `X-Amz-Algorithm only supports "${ALGORITHM}"`, {
      ArgumentName: "X-Amz-Algorithm",
    });
  }
  const date = parseAmzDate(requiredField(fields, "x-amz-date"));
  if (date === undefined) {
    throw new S3Error("InvalidArgument", 'X-Amz-Date must have the form "20130524T000000Z"', {
      ArgumentName: "X-Amz-Date",
    });
  }
  const { accessKeyId, scope } = parseCredential(
    requiredField(fields, "x-amz-credential"),
    date,
    "AuthorizationQueryParametersError",
  );
  const found = await lookup(accessKeyId);
  if (found === undefined) throw unknownKey(accessKeyId);
  const expected = sign(keys.derive(found.secret, scope), policy);
  const signature = fields.get("x-amz-signature") ?? "";
  if (!isSameSecret(expected, signature)) {
    throw new S3Error(
      "SignatureDoesNotMatch",
      "The signature is not that of this policy with this access key: check the secret access key",
      { AWSAccessKeyId: accessKeyId, StringToSign: policy, SignatureProvided: signature },
    );
  }
  const { expiration, conditions } = parsePolicy(policy);
  if (now >= expiration) throw refused("Policy expired");
  return { key: found.key, accessKeyId, size: checkConditions(form, conditions) };
}

function refuseOtherKinds(fields: ReadonlyMap<string, string>): void {
  if (fields.has("awsaccesskeyid") || fields.has("signature")) {
    throw unsupportedAlgorithm();
  }
  if (fields.has("x-amz-security-token")) {
    throw new S3Error("InvalidToken", "Session tokens are not supported: use an access key");
  }
  if (!fields.has("policy") || !fields.has("x-amz-signature")) {
    throw new S3Error(
      "AccessDenied",
      "The form has no signed policy: send the fields policy and x-amz-signature before the file",
    );
  }
}

function requiredField(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name);
  if (value !== undefined) return value;
  throw new S3Error(
    "InvalidArgument",
    `Bucket POST must contain a field named '${name}' before the file`,
    { ArgumentName: name },
  );
}

interface Policy {
  /** Milliseconds since 1970. */
  expiration: number;
  conditions: Condition[];
}

type Condition =
  | { kind: "eq" | "starts-with"; field: string; value: string }
  | { kind: "content-length-range"; min: number; max: number };

function parsePolicy(base64: string): Policy {
  let policy: unknown;
  try {
    const bytes = Buffer.from(base64, "base64");
    policy = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badPolicy("it is not the base64 of JSON");
  }
  if (!isObject(policy)) throw badPolicy("it is no object");
  const { expiration, conditions } = policy;
  const time = typeof expiration === "string" ? parseUtcTime(expiration) : undefined;
  if (time === undefined) {
    throw badPolicy('"expiration" must be a time such as "2030-12-01T12:00:00.000Z"');
  }
  if (!Array.isArray(conditions)) throw badPolicy('"conditions" must be a list');
  return { expiration: time, conditions: conditions.map(parseCondition) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses `["eq", "$key", "value"]`, `{"key": "value"}`, which means the same, or a range. */
function parseCondition(condition: unknown): Condition {
  if (isObject(condition)) {
    const [[field, value] = [], ...others] = Object.entries(condition);
    if (field === undefined || typeof value !== "string" || others.length > 0) {
      throw badCondition(condition);
    }
    return { kind: "eq", field: field.toLowerCase(), value };
  }
  if (!Array.isArray(condition) || condition.length !== 3) throw badCondition(condition);
  const [name, first, second]: unknown[] = condition;
  const kind = typeof name === "string" ? name.toLowerCase() : "";
  if (kind === "content-length-range") {
    const [min, max] = [sizeOf(first), sizeOf(second)];
    if (min === undefined || max === undefined || min > max) throw badCondition(condition);
    return { kind, min, max };
  }
  if (kind !== "eq" && kind !== "starts-with") throw badCondition(condition);
  if (typeof first !== "string" || typeof second !== "string" || !first.startsWith("$")) {
    throw badCondition(condition);
  }
  return { kind, field: first.slice(1).toLowerCase(), value: second };
}

/** A number of bytes, which some libraries write as a string. */
function sizeOf(value: unknown): number | undefined {
  const size = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : undefined;
}

/** Returns the range of sizes that all conditions allow. @throws {S3Error} if one does not hold. */
function checkConditions(form: SignedForm, conditions: Condition[]): SizeRange | undefined {
  const covered = new Set<string>();
  let size: SizeRange | undefined;
  for (const condition of conditions) {
    if (condition.kind === "content-length-range") {
      const { min, max } = size ?? { min: 0, max: Infinity };
      size = { min: Math.max(min, condition.min), max: Math.min(max, condition.max) };
      continue;
    }
    const { kind, field, value } = condition;
    covered.add(field);
    const actual = field === "bucket" ? form.bucket : form.fields.get(field);
    if (holds(kind, field, value, actual)) continue;
    throw refused(`Policy Condition failed: ${JSON.stringify([kind, `$${field}`, value])}`);
  }
  // Without a condition on the bucket, a form would be valid for all buckets.
  const more = ["bucket", ...form.fields.keys()].filter((name) =>
    !covered.has(name) && !UNCOVERED.includes(name) && !name.startsWith("x-ignore-")
  );
  if (more.length > 0) throw refused(`Extra input fields: ${[...new Set(more)].join(", ")}`);
  return size;
}

/** "Each form field that you specify in a form (except x-amz-signature, file, policy, and field names that have an x-ignore- prefix) must appear in the list of conditions." */
const UNCOVERED = ["x-amz-signature", "file", "policy"];

function holds(
  kind: "eq" | "starts-with",
  field: string,
  value: string,
  actual: string | undefined,
): boolean {
  if (kind === "eq") return actual === value;
  if (field !== "content-type") return (actual ?? "").startsWith(value);
  // "Content-Types values for a starts-with condition that include commas are interpreted as lists."
  return (actual ?? "").split(",").every((type) => type.trimStart().startsWith(value));
}

function badPolicy(problem: string): S3Error {
  return new S3Error("InvalidPolicyDocument", `The policy is invalid: ${problem}`);
}

function badCondition(condition: unknown): S3Error {
  return badPolicy(`the condition ${JSON.stringify(condition).slice(0, 200)} has an unknown form`);
}

function refused(problem: string): S3Error {
  return new S3Error("AccessDenied", `Invalid according to Policy: ${problem}`);
}
