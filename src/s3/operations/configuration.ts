/**
 * Configurations that Amazon has and this server does not: queries are answered as for a bucket without them, and changes
 * are refused.
 *
 * @module
 */
import type { Level, Operation } from "../operation.ts";
import { absentError, placeOf, requireBucket, type S3Call, type S3Deps } from "../s3_call.ts";
import { type S3Code, S3Error, s3Errors } from "../s3_error.ts";
import { ownerOf, xmlResponse } from "../s3_response.ts";
import type { XmlElement } from "../../xml/xml_writer.ts";

/** The answer to a query: an error code, or a document. */
type Answer = S3Code | ((call: S3Call) => XmlElement);

interface Configuration {
  level: Level;
  parameter: string;
  /** What Amazon's API reference calls it in the names of operations, after "Get" or "Put". */
  subject: string;
  answer: Answer;
}

const onBucket = (parameter: string, subject: string, answer: Answer): Configuration => ({
  level: "bucket",
  parameter,
  subject,
  answer,
});
const onObject = (parameter: string, subject: string, answer: Answer): Configuration => ({
  level: "object",
  parameter,
  subject,
  answer,
});

/** The access control list of everything: the owner has all rights, and others have none. */
function ownerOnly(call: S3Call): XmlElement {
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
  onBucket("accelerate", "BucketAccelerateConfiguration", () => ["AccelerateConfiguration", ""]),
  onBucket("abac", "BucketAbac", "NotImplemented"),
  onBucket("acl", "BucketAcl", ownerOnly),
  onBucket("analytics", "BucketAnalyticsConfiguration", "NotImplemented"),
  onBucket("cors", "BucketCors", "NoSuchCORSConfiguration"),
  onBucket("encryption", "BucketEncryption", "ServerSideEncryptionConfigurationNotFoundError"),
  onBucket("intelligent-tiering", "BucketIntelligentTieringConfiguration", "NotImplemented"),
  onBucket("inventory", "BucketInventoryConfiguration", "NotImplemented"),
  onBucket("lifecycle", "BucketLifecycleConfiguration", "NoSuchLifecycleConfiguration"),
  onBucket("logging", "BucketLogging", () => ["BucketLoggingStatus", ""]),
  onBucket("metadataConfiguration", "BucketMetadataConfiguration", "NotImplemented"),
  onBucket("metadataTable", "BucketMetadataTableConfiguration", "NotImplemented"),
  onBucket("metrics", "BucketMetricsConfiguration", "NotImplemented"),
  onBucket(
    "notification",
    "BucketNotificationConfiguration",
    () => ["NotificationConfiguration", ""],
  ),
  onBucket("object-lock", "ObjectLockConfiguration", "ObjectLockConfigurationNotFoundError"),
  onBucket("ownershipControls", "BucketOwnershipControls", "OwnershipControlsNotFoundError"),
  onBucket("policy", "BucketPolicy", "NoSuchBucketPolicy"),
  onBucket("policyStatus", "BucketPolicyStatus", () => ["PolicyStatus", [["IsPublic", false]]]),
  onBucket("publicAccessBlock", "PublicAccessBlock", "NoSuchPublicAccessBlockConfiguration"),
  onBucket("replication", "BucketReplication", "ReplicationConfigurationNotFoundError"),
  onBucket(
    "requestPayment",
    "BucketRequestPayment",
    () => ["RequestPaymentConfiguration", [["Payer", "BucketOwner"]]],
  ),
  onBucket("session", "Session", "NotImplemented"),
  onBucket("tagging", "BucketTagging", "NoSuchTagSet"),
  onBucket("versioning", "BucketVersioning", () => ["VersioningConfiguration", ""]),
  onBucket("website", "BucketWebsite", "NoSuchWebsiteConfiguration"),
  onObject("acl", "ObjectAcl", ownerOnly),
  onObject("legal-hold", "ObjectLegalHold", "ObjectLockConfigurationNotFoundError"),
  onObject("retention", "ObjectRetention", "ObjectLockConfigurationNotFoundError"),
  onObject("tagging", "ObjectTagging", () => ["Tagging", [["TagSet", ""]]]),
  onObject("torrent", "ObjectTorrent", "NotImplemented"),
];

/** Further operations that this server does not have. */
const ACTIONS = [
  { name: "RestoreObject", method: "POST", parameter: "restore" },
  { name: "SelectObjectContent", method: "POST", parameter: "select" },
  { name: "RenameObject", method: "PUT", parameter: "renameObject" },
];

function operationOf({ level, parameter, subject, answer }: Configuration): Operation {
  return {
    name: `Get${subject}`,
    method: "GET",
    level,
    parameter,
    permissions: level === "bucket" ? ["list"] : ["read"],
    handle: async (call, deps) => {
      if (level === "bucket") await requireBucket(call, deps);
      else await requireObject(call, deps);
      if (typeof answer === "function") return xmlResponse(answer(call));
      if (answer === "NotImplemented") throw s3Errors.notImplemented(`Get${subject}`);
      throw new S3Error(answer, `The ${level} has no configuration of this kind`);
    },
  };
}

async function requireObject(call: S3Call, deps: S3Deps): Promise<void> {
  const place = placeOf(call, call.key);
  const exists = call.key.endsWith("/")
    ? await deps.store.folders.get(place)
    : await deps.store.files.reader.stat(place);
  if (exists === undefined) throw await absentError(call, deps);
}

function refusalOf(
  operation: Pick<Operation, "name" | "method" | "level"> & { parameter: string },
): Operation {
  return {
    ...operation,
    permissions: ["write"],
    handle: () => Promise.reject(s3Errors.notImplemented(operation.name)),
  };
}

export const configurationOperations: readonly Operation[] = [
  ...CONFIGURATIONS.map(operationOf),
  ...CONFIGURATIONS.flatMap(({ level, parameter, subject }) => [
    refusalOf({ name: `Put${subject}`, method: "PUT", level, parameter }),
    refusalOf({ name: `Delete${subject}`, method: "DELETE", level, parameter }),
  ]),
  ...ACTIONS.map((action) => refusalOf({ ...action, level: "object" })),
];
