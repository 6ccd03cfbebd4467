/**
 * What Amazon lets its customers configure and this server does not have: queries get the response of a bucket without
 * any of it, and changes are refused.
 *
 * @module
 */
import type { Level, Operation } from "../operation.ts";
import { absentError, placeOf, requireBucket, type S3Call, type S3Deps } from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import type { S3Code } from "../s3_error.ts";
import { ownerOf, xmlResponse } from "../s3_response.ts";
import type { XmlElement } from "../xml/xml_writer.ts";

/** What a query is answered with: an error code, or a document. */
type Answer = S3Code | ((call: S3Call) => XmlElement);

interface Configuration {
  level: Level;
  parameter: string;
  answer: Answer;
}

const onBucket = (parameter: string, answer: Answer): Configuration => ({
  level: "bucket",
  parameter,
  answer,
});
const onObject = (parameter: string, answer: Answer): Configuration => ({
  level: "object",
  parameter,
  answer,
});

/** The owner may do everything, and others nothing. */
function ownersAlone(call: S3Call): XmlElement {
  return ["AccessControlPolicy", [
    ["Owner", ownerOf(call)],
    ["AccessControlList", [["Grant", [
      ["Grantee", ownerOf(call), {
        "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
        "xsi:type": "CanonicalUser",
      }],
      ["Permission", "FULL_CONTROL"],
    ]]]],
  ]];
}

const CONFIGURATIONS: readonly Configuration[] = [
  onBucket("accelerate", () => ["AccelerateConfiguration", ""]),
  onBucket("abac", "NotImplemented"),
  onBucket("acl", ownersAlone),
  onBucket("analytics", "NotImplemented"),
  onBucket("cors", "NoSuchCORSConfiguration"),
  onBucket("encryption", "ServerSideEncryptionConfigurationNotFoundError"),
  onBucket("intelligent-tiering", "NotImplemented"),
  onBucket("inventory", "NotImplemented"),
  onBucket("lifecycle", "NoSuchLifecycleConfiguration"),
  onBucket("logging", () => ["BucketLoggingStatus", ""]),
  onBucket("metadataConfiguration", "NotImplemented"),
  onBucket("metadataTable", "NotImplemented"),
  onBucket("metrics", "NotImplemented"),
  onBucket("notification", () => ["NotificationConfiguration", ""]),
  onBucket("object-lock", "ObjectLockConfigurationNotFoundError"),
  onBucket("ownershipControls", "OwnershipControlsNotFoundError"),
  onBucket("policy", "NoSuchBucketPolicy"),
  onBucket("policyStatus", () => ["PolicyStatus", [["IsPublic", false]]]),
  onBucket("publicAccessBlock", "NoSuchPublicAccessBlockConfiguration"),
  onBucket("replication", "ReplicationConfigurationNotFoundError"),
  onBucket("requestPayment", () => ["RequestPaymentConfiguration", [["Payer", "BucketOwner"]]]),
  onBucket("session", "NotImplemented"),
  onBucket("tagging", "NoSuchTagSet"),
  onBucket("versioning", () => ["VersioningConfiguration", ""]),
  onBucket("website", "NoSuchWebsiteConfiguration"),
  onObject("acl", ownersAlone),
  onObject("legal-hold", "ObjectLockConfigurationNotFoundError"),
  onObject("retention", "ObjectLockConfigurationNotFoundError"),
  onObject("tagging", () => ["Tagging", [["TagSet", ""]]]),
  onObject("torrent", "NotImplemented"),
];

/** Parameters of calls that change or do something that this server does not do. */
const ACTIONS: readonly (readonly [method: string, level: Level, parameter: string])[] = [
  ["POST", "object", "restore"],
  ["POST", "object", "select"],
  ["PUT", "object", "renameObject"],
];

function operationOf({ level, parameter, answer }: Configuration): Operation {
  return {
    name: `Get ${parameter}`,
    method: "GET",
    level,
    parameter,
    permissions: level === "bucket" ? ["list"] : ["read"],
    handle: async (call, deps) => {
      if (level === "bucket") await requireBucket(call, deps);
      else await requireObject(call, deps);
      if (typeof answer === "function") return xmlResponse(answer(call));
      if (answer === "NotImplemented") throw s3Errors.notImplemented(parameter);
      throw new S3Error(answer, `The ${level} has no configuration of this kind`);
    },
  };
}

async function requireObject(call: S3Call, deps: S3Deps): Promise<void> {
  const place = placeOf(call, call.key);
  const exists = call.key.endsWith("/")
    ? await deps.store.folders.get(place)
    : await deps.store.files.stat(place);
  if (exists === undefined) throw await absentError(call, deps);
}

function refusalOf(method: string, level: Level, parameter: string): Operation {
  return {
    name: `${method} ${parameter}`,
    method,
    level,
    parameter,
    permissions: ["write"],
    handle: () => Promise.reject(s3Errors.notImplemented(`changes of ${parameter}`)),
  };
}

/** The operations on configurations. */
export const configurationOperations: readonly Operation[] = [
  ...CONFIGURATIONS.map(operationOf),
  ...CONFIGURATIONS.flatMap(({ level, parameter }) =>
    ["PUT", "DELETE"].map((method) => refusalOf(method, level, parameter))
  ),
  ...ACTIONS.map(([method, level, parameter]) => refusalOf(method, level, parameter)),
];
