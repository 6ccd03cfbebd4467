import { refuseUnsupported } from "../object_headers.ts";
import type { Operation } from "../operation.ts";
import { positiveParameter } from "../parameters.ts";
import { assertNewBucketName } from "../request_address.ts";
import { requireBucket, withText } from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { emptyResponse, listResponse, ownerOf, xmlResponse, xmlTime } from "../s3_response.ts";
import { optional, type XmlElement } from "../../xml/xml_writer.ts";

/** The most buckets in a page of a list (Amazon's limit). */
const MAX_BUCKETS = 10_000;

/** Estimated memory for reading and writing a bucket, in bytes. */
const BUCKET_MEMORY = 512;

const listBuckets: Operation = {
  name: "ListBuckets",
  method: "GET",
  level: "service",
  permissions: ["list"],
  handle: async (call, deps) => {
    const { project, query, rights: { drives: among } } = call;
    const prefix = query.one("prefix") ?? "";
    const last = query.one("continuation-token") ?? "";
    const limit = positiveParameter(query, "max-buckets", MAX_BUCKETS) ?? MAX_BUCKETS;
    return await listResponse(call, deps, limit * BUCKET_MEMORY, async () => {
      const [{ drives, more }, owner] = await Promise.all([
        deps.store.listDrives({ project, prefix, last, limit, among }),
        deps.store.projects.get(project),
      ]);
      const created = xmlTime(owner?.created ?? 0);
      return ["ListAllMyBucketsResult", [
        ["Owner", ownerOf(call)],
        [
          "Buckets",
          drives.map(({ name }): XmlElement => ["Bucket", [
            ["Name", name],
            ["CreationDate", created],
          ]]),
        ],
        ...optional("Prefix", prefix === "" ? undefined : prefix),
        ...optional("ContinuationToken", more ? drives.at(-1)?.name : undefined),
      ]];
    });
  },
};

const createBucket: Operation = {
  name: "CreateBucket",
  method: "PUT",
  level: "bucket",
  permissions: ["write"],
  handle: async (call, deps) => {
    const { project, bucket, headers } = call;
    refuseUnsupported(headers);
    // Every location constraint is accepted: the server has no regions.
    await withText(call, deps, {}, () => Promise.resolve());
    if (!await deps.store.projects.hasDrive(project, bucket)) assertNewBucketName(bucket);
    if (await deps.store.projects.createDrive(project, bucket) === "exists") {
      throw new S3Error("BucketAlreadyOwnedByYou", "The bucket exists already, and is yours", {
        BucketName: bucket,
      });
    }
    return emptyResponse(200, { Location: `/${encodeURIComponent(bucket)}` });
  },
};

const headBucket: Operation = {
  name: "HeadBucket",
  method: "HEAD",
  level: "bucket",
  permissions: ["list"],
  handle: async (call, deps) => {
    await requireBucket(call, deps);
    return emptyResponse(200, { "x-amz-bucket-region": REGION });
  },
};

/** The region that the server names. It accepts signatures of any. */
const REGION = "us-east-1";

const getBucketLocation: Operation = {
  name: "GetBucketLocation",
  method: "GET",
  level: "bucket",
  parameter: "location",
  permissions: ["list"],
  handle: async (call, deps) => {
    await requireBucket(call, deps);
    // Empty stands for us-east-1.
    return xmlResponse(["LocationConstraint", ""]);
  },
};

const deleteBucket: Operation = {
  name: "DeleteBucket",
  method: "DELETE",
  level: "bucket",
  permissions: ["delete"],
  handle: async ({ project, bucket, rights, actor }, { store }) => {
    rights.requireAllNames();
    const outcome = await store.projects.deleteEmptyDrive(project, bucket, actor());
    if (outcome === "deleted") return emptyResponse(204);
    if (outcome === "absent") throw s3Errors.noSuchBucket(bucket);
    throw new S3Error(
      "BucketNotEmpty",
      "The bucket has objects, folders, or files in the trash: delete these first",
      { BucketName: bucket },
    );
  },
};

export const bucketOperations: readonly Operation[] = [
  listBuckets,
  createBucket,
  headBucket,
  getBucketLocation,
  deleteBucket,
];
