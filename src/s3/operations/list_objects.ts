import { Buffer } from "node:buffer";
import { byteLength } from "../../rules/names.ts";
import type { ListedFile, ObjectEntry } from "../../store/listing/listing.ts";
import { EMPTY_TAG, entityTag } from "../object_headers.ts";
import type { Operation } from "../operation.ts";
import { ENTRY_MEMORY, type NameEncoding, nameEncoding, pageLimit } from "../parameters.ts";
import { requireBucket, type S3Call, type S3Deps } from "../s3_call.ts";
import { s3Errors } from "../s3_error.ts";
import { listResponse, ownerOf, xmlTime } from "../s3_response.ts";
import { optional, type XmlElement } from "../../xml/xml_writer.ts";

/** A page ends once its names have this many bytes. */
const MAX_PAGE = 2 ** 20;

interface ListRequest extends NameEncoding {
  prefix: string;
  delimiter: string;
  /** The list continues after this entry. */
  after: string;
  limit: number;
}

interface ListedPage {
  entries: ObjectEntry[];
  more: boolean;
}

/** An object or the marker of a folder. */
type ObjectItem = Exclude<ObjectEntry, { commonPrefix: string }>;

function listRequestOf({ query }: S3Call, after: string): ListRequest {
  return {
    prefix: query.one("prefix") ?? "",
    delimiter: query.one("delimiter") ?? "",
    after,
    limit: pageLimit(query, "max-keys"),
    ...nameEncoding(query),
  };
}

/** Reads a page of what the access key may see. */
async function readPage(
  call: S3Call,
  { store }: S3Deps,
  request: ListRequest,
): Promise<ListedPage> {
  const { project, bucket: drive, rights } = call;
  const { prefix, delimiter, limit, after } = request;
  const within = rights.visiblePrefix(prefix);
  if (within === undefined || limit === 0) return { entries: [], more: false };
  return cutPage(
    await store.listObjects({ project, drive, prefix, within, delimiter, after, limit }),
  );
}

function cutPage({ entries, more }: ListedPage): ListedPage {
  let bytes = 0;
  const end = entries.findIndex((entry, index) => {
    bytes += byteLength(nameOf(entry));
    return index > 0 && bytes > MAX_PAGE;
  });
  return end === -1 ? { entries, more } : { entries: entries.slice(0, end), more: true };
}

function nameOf(entry: ObjectEntry): string {
  return entry.commonPrefix !== undefined ? entry.commonPrefix : entry.name;
}

/** The elements of an object. @param owner Its owner, if the request wants it. */
function objectElements(
  entry: ObjectItem,
  encoded: (name: string) => string,
  owner: XmlElement[] | undefined,
): XmlElement[] {
  const { record } = entry;
  const modified = entry.record !== undefined ? entry.record.modified : entry.folder.created;
  return [
    ["Key", encoded(entry.name)],
    ["LastModified", xmlTime(modified)],
    ["ETag", `"${record === undefined ? EMPTY_TAG : entityTag(record)}"`],
    ...listedChecksum(record),
    ["Size", record?.size ?? 0],
    ...optional("Owner", owner),
    ["StorageClass", "STANDARD"],
  ];
}

/** The elements with the kind of checksum that an object has. */
function listedChecksum(record: ListedFile | undefined): XmlElement[] {
  const { checksum } = record ?? {};
  if (checksum === undefined) return [];
  return [["ChecksumAlgorithm", checksum.algorithm], ["ChecksumType", checksum.type]];
}

/** The entries of a page: first the objects, then the common prefixes. */
function pageElements(
  { entries }: ListedPage,
  { encoded }: ListRequest,
  objectName: string,
  elementsOf: (entry: ObjectItem) => XmlElement[],
): XmlElement[] {
  const objects: XmlElement[] = [];
  const prefixes: XmlElement[] = [];
  for (const entry of entries) {
    if (entry.commonPrefix !== undefined) {
      prefixes.push(["CommonPrefixes", [["Prefix", encoded(entry.commonPrefix)]]]);
    } else objects.push([objectName, elementsOf(entry)]);
  }
  return [...objects, ...prefixes];
}

/** The elements that repeat the request. */
function requestElements(
  { bucket }: S3Call,
  { prefix, delimiter, limit, encoded, encoding }: ListRequest,
): XmlElement[] {
  return [
    ["Name", bucket],
    ["Prefix", encoded(prefix)],
    ["MaxKeys", limit],
    ...(delimiter === "" ? [] : [["Delimiter", encoded(delimiter)]] satisfies XmlElement[]),
    ...optional("EncodingType", encoding),
  ];
}

/** @param build Returns the document. `next` is the last entry of the page, if there are more. */
async function respond(
  call: S3Call,
  deps: S3Deps,
  request: ListRequest,
  build: (page: ListedPage, next: string | undefined) => XmlElement,
): Promise<Response> {
  await requireBucket(call, deps);
  return await listResponse(call, deps, request.limit * ENTRY_MEMORY, async () => {
    const page = await readPage(call, deps, request);
    const last = page.more ? page.entries.at(-1) : undefined;
    return build(page, last && nameOf(last));
  });
}

const listObjects: Operation = {
  name: "ListObjects",
  method: "GET",
  level: "bucket",
  permissions: ["list"],
  handle: async (call, deps) => {
    const { query } = call;
    const marker = query.one("marker") ?? "";
    const request = listRequestOf(call, marker);
    const { encoded } = request;
    const elementsOf = (item: ObjectItem) => objectElements(item, encoded, ownerOf(call));
    return await respond(call, deps, request, (page, next) => ["ListBucketResult", [
      ...requestElements(call, request),
      ["Marker", encoded(marker)],
      ...optional("NextMarker", next && encoded(next)),
      ["IsTruncated", page.more],
      ...pageElements(page, request, "Contents", elementsOf),
    ]]);
  },
};

const listObjectsV2: Operation = {
  name: "ListObjectsV2",
  method: "GET",
  level: "bucket",
  parameter: "list-type",
  permissions: ["list"],
  handle: async (call, deps) => {
    const { query } = call;
    const type = query.one("list-type") ?? "";
    if (type !== "2") throw s3Errors.badArgument("list-type", type, "it must be 2");
    const token = query.one("continuation-token");
    const startAfter = query.one("start-after");
    const after = token ? readToken(token) : startAfter ?? "";
    const request = listRequestOf(call, after);
    const { encoded } = request;
    const owner = query.one("fetch-owner") === "true" ? ownerOf(call) : undefined;
    const elementsOf = (item: ObjectItem) => objectElements(item, encoded, owner);
    return await respond(call, deps, request, (page, next) => ["ListBucketResult", [
      ...requestElements(call, request),
      ...optional("ContinuationToken", token),
      ...optional("StartAfter", startAfter === undefined ? undefined : encoded(startAfter)),
      ...optional("NextContinuationToken", next && writeToken(next)),
      ["KeyCount", page.entries.length],
      ["IsTruncated", page.more],
      ...pageElements(page, request, "Contents", elementsOf),
    ]]);
  },
};

/** A token is the last entry of the page before, in base64: it may have characters that XML cannot have. */
function writeToken(name: string): string {
  return Buffer.from(name).toString("base64url");
}

function readToken(token: string): string {
  const name = Buffer.from(token, "base64url").toString();
  if (name !== "" && writeToken(name) === token) return name;
  throw s3Errors.badArgument("continuation-token", token, "it is none that this server gave");
}

/** Every object is the only version of its key: tools that empty a bucket ask for its versions. */
const listObjectVersions: Operation = {
  name: "ListObjectVersions",
  method: "GET",
  level: "bucket",
  parameter: "versions",
  permissions: ["list"],
  handle: async (call, deps) => {
    const marker = call.query.one("key-marker") ?? "";
    const request = listRequestOf(call, marker);
    const { encoded } = request;
    const elementsOf = (item: ObjectItem): XmlElement[] => [
      ...objectElements(item, encoded, ownerOf(call)),
      ["VersionId", "null"],
      ["IsLatest", true],
    ];
    return await respond(call, deps, request, (page, next) => ["ListVersionsResult", [
      ...requestElements(call, request),
      ["KeyMarker", encoded(marker)],
      ...optional("NextKeyMarker", next && encoded(next)),
      ...optional("NextVersionIdMarker", next && "null"),
      ["IsTruncated", page.more],
      ...pageElements(page, request, "Version", elementsOf),
    ]]);
  },
};

export const listOperations: readonly Operation[] = [
  listObjects,
  listObjectsV2,
  listObjectVersions,
];
