import { compareNames } from "../../rules/names.ts";
import { refuseUnsupported } from "../object_headers.ts";
import type { Operation } from "../operation.ts";
import { positiveParameter } from "../parameters.ts";
import { assertNewBucketName } from "../request_address.ts";
import { requireBucket, withText } from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { emptyResponse, ownerOf, xmlResponse, xmlTime } from "../s3_response.ts";
import type { XmlElement } from "../xml/xml_writer.ts";

/** The most buckets in a page of a list (Amazon's limit). */
const MAX_BUCKETS = 10_000;

const listBuckets: Operation = {
  name: "ListBuckets",
  method: "GET",
  level: "service",
  permissions: ["list"],
  handle: async (call, { store }) => {
    const { project, query, rights } = call;
    const prefix = query.one("prefix") ?? "";
    const last = query.one("continuation-token") ?? "";
    const max = positiveParameter(query, "max-buckets", MAX_BUCKETS) ?? MAX_BUCKETS;
    const [drives, owner] = await Promise.all([store.drives(project), store.projects.get(project)]);
    const names = drives.map(({ name }) => name).filter((name) =>
      rights.allowsDrive(name) && name.startsWith(prefix) && compareNames(name, last) > 0
    );
    const page = names.slice(0, max);
    const created = xmlTime(owner?.created ?? 0);
    return xmlResponse(["ListAllMyBucketsResult", [
      ["Owner", ownerOf(call)],
      [
        "Buckets",
        page.map((name): XmlElement => ["Bucket", [
          ["Name", name],
          ["CreationDate", created],
        ]]),
      ],
      ...(prefix === "" ? [] : [["Prefix", prefix]] satisfies XmlElement[]),
      ...(page.length < names.length
        ? [["ContinuationToken", page.at(-1) ?? ""]] satisfies XmlElement[]
        : []),
    ]]);
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
    if (!await deps.store.buckets.exists(project, bucket)) assertNewBucketName(bucket);
    if (await deps.store.buckets.create(project, bucket) === "exists") {
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
    const outcome = await store.buckets.deleteEmpty(project, bucket, actor());
    if (outcome === "deleted") return emptyResponse(204);
    if (outcome === "absent") throw s3Errors.noSuchBucket(bucket);
    throw new S3Error(
      "BucketNotEmpty",
      "The bucket has objects, folders, or files in the trash: delete these first",
      { BucketName: bucket },
    );
  },
};

/** The operations on buckets. */
export const bucketOperations: readonly Operation[] = [
  listBuckets,
  createBucket,
  headBucket,
  getBucketLocation,
  deleteBucket,
];
