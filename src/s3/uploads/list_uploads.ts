import { compareNames } from "../../rules/names.ts";
import { MAX_PARTS } from "../../rules/payloads.ts";
import type { ListedUpload } from "../../store/uploads/upload_store.ts";
import type { Operation } from "../operation.ts";
import {
  ENTRY_MEMORY,
  MAX_ENTRIES,
  nameEncoding,
  numberParameter,
  pageLimit,
} from "../parameters.ts";
import { placeOf, requireBucket, type S3Call, type S3Deps } from "../s3_call.ts";
import { listResponse, ownerOf, xmlTime } from "../s3_response.ts";
import { optional, type XmlElement } from "../../xml/xml_writer.ts";
import { partTag } from "./complete_upload.ts";

const listParts: Operation = {
  name: "ListParts",
  method: "GET",
  level: "object",
  parameter: "uploadId",
  permissions: ["list"],
  handle: async (call, deps) => {
    const { bucket, key, query } = call;
    const id = query.required("uploadId");
    const max = pageLimit(query, "max-parts");
    const marker = numberParameter(query, "part-number-marker", 0);
    const { encoding, encoded } = nameEncoding(query);
    const place = placeOf(call, key);
    await requireBucket(call, deps);
    return await listResponse(call, deps, max * ENTRY_MEMORY, async () => {
      const asked = { after: Math.min(marker, MAX_PARTS), limit: max + 1 };
      const { session, parts } = await deps.store.uploads.get(place, id, asked);
      const algorithm = session.checksum?.algorithm;
      const page = parts.slice(0, max);
      return ["ListPartsResult", [
        ["Bucket", bucket],
        ["Key", encoded(key)],
        ...optional("EncodingType", encoding),
        ["UploadId", id],
        ["Initiator", ownerOf(call)],
        ["Owner", ownerOf(call)],
        ["StorageClass", "STANDARD"],
        ["PartNumberMarker", marker],
        ["NextPartNumberMarker", page.at(-1)?.part ?? marker],
        ["MaxParts", max],
        ["IsTruncated", page.length < parts.length && max > 0],
        ...optional("ChecksumAlgorithm", algorithm),
        ...optional("ChecksumType", session.checksum?.type),
        ...page.map((part): XmlElement => ["Part", [
          ["PartNumber", part.part],
          ["LastModified", xmlTime(part.modified ?? session.created)],
          ["ETag", `"${partTag(part)}"`],
          ["Size", part.size],
          ...(algorithm === undefined ? [] : optional(`Checksum${algorithm}`, part.checksum)),
        ]]),
      ]];
    });
  },
};

const listUploads: Operation = {
  name: "ListMultipartUploads",
  method: "GET",
  level: "bucket",
  parameter: "uploads",
  permissions: ["list"],
  handle: async (call, deps) => {
    await requireBucket(call, deps);
    const max = pageLimit(call.query, "max-uploads");
    return await listResponse(call, deps, MAX_ENTRIES * ENTRY_MEMORY, async () => {
      const page = await readUploads(call, deps, max);
      return ["ListMultipartUploadsResult", uploadElements(call, page, max)];
    });
  },
};

/** An upload, or the common prefix of several. */
type UploadEntry = { name: string; upload?: ListedUpload };

interface UploadPage {
  entries: UploadEntry[];
  more: boolean;
}

/** Reads a page of the open uploads in the order of their keys, and of their ids where keys are the same. */
async function readUploads(
  { project, bucket, query, rights }: S3Call,
  { store }: S3Deps,
  max: number,
): Promise<UploadPage> {
  const asked = query.one("prefix") ?? "";
  const prefix = rights.visiblePrefix(asked);
  if (prefix === undefined) return { entries: [], more: false };
  const delimiter = query.one("delimiter") ?? "";
  const uploads = await allUploads(store, project, bucket, prefix);
  uploads.sort((a, b) => compareNames(a.session.name, b.session.name) || compareNames(a.id, b.id));
  const entries: UploadEntry[] = [];
  for (const upload of uploads) {
    const { name } = upload.session;
    const at = delimiter === "" ? -1 : name.indexOf(delimiter, asked.length);
    if (at === -1) entries.push({ name, upload });
    else {
      const common = name.slice(0, at + delimiter.length);
      if (entries.at(-1)?.name !== common) entries.push({ name: common });
    }
  }
  const keyMarker = query.one("key-marker") ?? "";
  const idMarker = query.one("upload-id-marker") ?? "";
  const rest = entries.filter(({ name, upload }) => {
    const order = compareNames(name, keyMarker);
    if (order !== 0) {
      return order > 0 && !(delimiter !== "" && isWithin(keyMarker, delimiter, name));
    }
    return upload !== undefined && idMarker !== "" && compareNames(upload.id, idMarker) > 0;
  });
  return { entries: rest.slice(0, max), more: max > 0 && rest.length > max };
}

/** Whether a marker is a common prefix, and a name lies in it. */
function isWithin(marker: string, delimiter: string, name: string): boolean {
  return marker.endsWith(delimiter) && name.startsWith(marker);
}

/** Their number is limited for each project: see `--max-open-uploads`. */
async function allUploads(
  { uploads }: S3Deps["store"],
  project: string,
  drive: string,
  prefix: string,
): Promise<ListedUpload[]> {
  const all: ListedUpload[] = [];
  while (true) {
    const last = all.at(-1)?.id ?? "";
    const page = await uploads.list(project, drive, { limit: MAX_ENTRIES, last, prefix });
    all.push(...page.uploads);
    if (!page.more) return all;
  }
}

function uploadElements(call: S3Call, { entries, more }: UploadPage, max: number): XmlElement[] {
  const { bucket, query } = call;
  const { encoding, encoded } = nameEncoding(query);
  const last = more ? entries.at(-1) : undefined;
  const asked = (name: string) => encoded(query.one(name) ?? "");
  return [
    ["Bucket", bucket],
    ["KeyMarker", asked("key-marker")],
    ["UploadIdMarker", query.one("upload-id-marker") ?? ""],
    ...optional("NextKeyMarker", last && encoded(last.name)),
    ...optional("NextUploadIdMarker", last && (last.upload?.id ?? "")),
    ["Prefix", asked("prefix")],
    ...optional("Delimiter", asked("delimiter") || undefined),
    ...optional("EncodingType", encoding),
    ["MaxUploads", max],
    ["IsTruncated", more],
    ...entries.map(({ name, upload }): XmlElement =>
      upload === undefined
        ? ["CommonPrefixes", [["Prefix", encoded(name)]]]
        : ["Upload", uploadElement(call, upload, encoded)]
    ),
  ];
}

function uploadElement(
  call: S3Call,
  { id, session }: ListedUpload,
  encoded: (name: string) => string,
): XmlElement[] {
  const { name, created, checksum } = session;
  return [
    ["Key", encoded(name)],
    ["UploadId", id],
    ["Initiator", ownerOf(call)],
    ["Owner", ownerOf(call)],
    ["StorageClass", "STANDARD"],
    ["Initiated", xmlTime(created)],
    ...optional("ChecksumAlgorithm", checksum?.algorithm),
    ...optional("ChecksumType", checksum?.type),
  ];
}

export const uploadListOperations: readonly Operation[] = [listParts, listUploads];
