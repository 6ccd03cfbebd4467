import { assertEquals } from "@std/assert";
import { PIECE } from "../../../support/bytes.ts";
import { sweepStore } from "../crash.ts";
import { ACCOUNT_KINDS, accountProblems } from "./account_audit.ts";
import {
  all,
  bytesVersion,
  type Entries,
  type Entry,
  type FileValue,
  readEntries,
  rest,
  textOfKey,
  versionOf,
} from "./entries.ts";
import { integrityProblems } from "./integrity_audit.ts";
import {
  type GarbageValue,
  type Owned,
  ownedIn,
  type PageValue,
  type PartValue,
  recordsIn,
  type SessionValue,
  type TrashValue,
} from "./owned.ts";

/** The fields of a project that the audit needs. */
const KINDS = new Set([
  ...ACCOUNT_KINDS,
  "byte_file",
  "checksums",
  "chunk",
  // Expires some minutes after its commit to a shared store.
  "commit",
  "completed_upload",
  "content",
  // Ignored for a deleted file, and removed when the list is read.
  "damage",
  "drive_link",
  "expiry",
  "file",
  "folder",
  "format",
  "garbage",
  "lease",
  "link",
  "link_downloads",
  "link_key",
  "locks",
  "manifest",
  "part",
  "parts_revision",
  "pending",
  "project_usage",
  "references",
  "scrub",
  "store_id",
  "trash",
  "undigested",
  "upload",
  "usage",
]);

/**
 * Fails unless every entry of a store has an owner, and every owner has all of its entries.
 *
 * @param isSwept Whether the store was swept: then there is no journal, and no garbage except deadlines of open
 * uploads.
 */
export async function auditStore(data: string, isSwept: boolean): Promise<void> {
  const entries = await readEntries(data);
  const owned = ownedIn(entries);
  const problems = [
    ...[...entries.keys()].filter((kind) => !KINDS.has(kind)).map((kind) => `a ${kind}`),
    ...chunkProblems(entries, owned),
    ...checksumProblems(entries, owned),
    ...manifestProblems(entries, owned),
    ...contentProblems(entries, owned),
    ...referenceProblems(entries, owned),
    ...uploadProblems(entries, owned),
    ...trashProblems(entries),
    ...expiryProblems(entries),
    ...linkProblems(entries),
    ...usageProblems(entries),
    ...sumProblems(entries),
    ...accountProblems(entries),
    ...integrityProblems(entries),
    ...journalProblems(entries, owned),
    ...(isSwept ? leftovers(entries) : []),
  ];
  assertEquals(problems, [], `The store has ${problems.length} wrong entries`);
}

/** Finds chunks without an owner, missing chunks, and chunks with a wrong length. */
function* chunkProblems(entries: Entries, { needed, passing }: Owned): Generator<string> {
  const found = new Map<string, number[]>();
  for (const chunk of all(entries, "chunk")) {
    const version = versionOf(chunk);
    const lengths = found.get(version) ?? [];
    lengths[Number(chunk.key.at(-1))] = Number(chunk.value);
    found.set(version, lengths);
    if (!needed.has(version) && !passing.has(version)) {
      yield `The chunk ${rest(chunk)} has no owner`;
    }
  }
  for (const [version, size] of needed) {
    const wanted = Array.from(
      { length: Math.ceil(size / PIECE) },
      (_, i) => Math.min(PIECE, size - i * PIECE),
    );
    const lengths = found.get(version) ?? [];
    if (wanted.join() !== lengths.join()) yield `Chunks ${version} of ${size}: ${lengths.join()}`;
  }
}

/**
 * Finds versions without their checksums (four bytes per chunk and a digest, in one or more pages), and checksums without
 * a version.
 */
function* checksumProblems(entries: Entries, { needed, passing }: Owned): Generator<string> {
  const found = new Map<string, number>();
  for (const page of all(entries, "checksums")) {
    const version = versionOf(page);
    found.set(version, (found.get(version) ?? 0) + Number(page.value));
    if (!needed.has(version) && !passing.has(version)) {
      yield `The checksums ${rest(page)} have no owner`;
    }
  }
  for (const [version, size] of needed) {
    const wanted = size === 0 ? 0 : 4 * Math.ceil(size / PIECE) + 32;
    const bytes = found.get(version) ?? 0;
    if (bytes !== wanted) {
      yield `The checksums of ${version} have ${bytes} instead of ${wanted} bytes`;
    }
  }
}

function* manifestProblems(entries: Entries, owned: Owned): Generator<string> {
  for (const page of all(entries, "manifest")) {
    const version = versionOf(page);
    const isOwned = owned.manifests.has(version) || owned.passingManifests.has(version);
    if (!isOwned) yield `The manifest page ${rest(page)} has no owner`;
  }
  for (const record of recordsIn(entries)) {
    const { version, size, layout } = record;
    if (layout.kind !== "manifest") continue;
    const pages = all(entries, "manifest")
      .filter((page) => versionOf(page) === bytesVersion(record))
      .map(({ value }) => value as PageValue);
    const sizes = pages.flatMap((page) => page.sizes);
    const isWhole = sizes.length === layout.parts && sizes.reduce((a, b) => a + b, 0) === size;
    if (!isWhole) yield `The version ${version} of ${size} has parts of ${sizes.join()}`;
  }
}

/** Finds inline files without their content, and content without an inline file. */
function* contentProblems(entries: Entries, { contents }: Owned): Generator<string> {
  const missing = new Map(contents);
  for (const content of all(entries, "content")) {
    const version = versionOf(content);
    const size = missing.get(version);
    missing.delete(version);
    if (size === undefined) yield `The content ${version} has no owner`;
    else if (content.value !== size) yield `The content ${version} has ${content.value} of ${size}`;
  }
  for (const [version, size] of missing) yield `The content ${version} of ${size} is missing`;
}

/** Finds bytes that several records use without saying so, and wrong counts of those that do. */
function* referenceProblems(entries: Entries, { users }: Owned): Generator<string> {
  const counts = new Map(
    all(entries, "references").map((entry) => [
      versionOf(entry),
      (entry.value as { value: bigint }).value,
    ]),
  );
  for (const [version, { count, marked }] of users) {
    if (count === 1 && marked === 0) continue;
    const counted = counts.get(version);
    counts.delete(version);
    if (marked < count) yield `${count} records share ${version}, but ${marked} say so`;
    if (counted !== BigInt(count)) yield `${version} counts ${counted} users instead of ${count}`;
  }
  for (const [version, count] of counts) yield `${version} counts ${count} users, but has none`;
}

/** Finds parts and counters without an upload that is open or being removed. */
function* uploadProblems(entries: Entries, { passingUploads }: Owned): Generator<string> {
  const open = new Set(all(entries, "upload").map((upload) => rest(upload)));
  for (const part of all(entries, "part")) {
    const upload = rest(part, -1);
    if (!open.has(upload) && !passingUploads.has(upload)) {
      yield `The part ${rest(part)} has no upload`;
    }
  }
  for (const revision of all(entries, "parts_revision")) {
    if (!open.has(rest(revision))) yield `The revision ${rest(revision)} has no upload`;
  }
  for (const upload of open) {
    if (!passingUploads.has(upload)) yield `The upload ${upload} has no deadline`;
  }
  for (const completed of all(entries, "completed_upload")) {
    if (open.has(rest(completed))) yield `${rest(completed)} is open and completed`;
  }
  yield* revisionProblems(entries);
}

/** Checks that every open upload counts the bytes of its parts. */
function* revisionProblems(entries: Entries): Generator<string> {
  for (const upload of all(entries, "upload")) {
    const bytes = all(entries, "part").filter((part) => rest(part, -1) === rest(upload))
      .reduce((sum, part) => sum + BigInt((part.value as PartValue).size), 0n);
    const revision = all(entries, "parts_revision").find((one) => rest(one) === rest(upload));
    const counted = (revision?.value as { value: bigint } | undefined)?.value ?? 0n;
    if (counted !== bytes) yield `${rest(upload)} counts ${counted} instead of ${bytes}`;
  }
}

/** Finds items of the trash that the journal does not delete at their deadline. */
function* trashProblems(entries: Entries): Generator<string> {
  const deadlines = new Set(
    all(entries, "garbage").filter(({ value }) => (value as GarbageValue).kind === "trash")
      .map(({ key }) => rest({ key, value: undefined })),
  );
  for (const { key, value } of all(entries, "trash")) {
    const deadline = textOfKey((value as TrashValue).expires, String(key.at(-1)));
    if (!deadlines.has(deadline)) {
      yield `The item ${textOfKey(...key)} of the trash has no deadline`;
    }
  }
}

/** A file counts for its bytes, those of its thumbnail and those of the metadata of S3 and WebDAV. */
function countedBytes({ size, thumbnail, object = {}, properties = {} }: FileValue): number {
  const texts = [...Object.values(object), properties]
    .flatMap((fields) => Object.entries(fields).flat());
  return size + (thumbnail?.size ?? 0) + new TextEncoder().encode(texts.join("")).byteLength;
}

function* usageProblems(entries: Entries): Generator<string> {
  const counts = new Map<string, bigint>();
  const add = (drive: Entry["key"], counter: string, by: number): void => {
    const key = textOfKey(...drive, counter);
    counts.set(key, (counts.get(key) ?? 0n) + BigInt(by));
  };
  for (const { key, value } of all(entries, "file")) {
    add(key.slice(1, 3), "files", 1);
    add(key.slice(1, 3), "bytes", countedBytes(value as FileValue));
  }
  for (const { key, value } of all(entries, "trash")) {
    add(key.slice(1, 3), "trash_files", 1);
    add(key.slice(1, 3), "trash_bytes", countedBytes((value as TrashValue).record));
  }
  const open = new Set(all(entries, "upload").map((upload) => rest(upload)));
  for (const part of all(entries, "part")) {
    if (!open.has(rest(part, -1))) continue;
    add(part.key.slice(1, 3), "open_bytes", (part.value as PartValue).size);
  }
  for (const usage of all(entries, "usage")) {
    const counted = counts.get(rest(usage)) ?? 0n;
    counts.delete(rest(usage));
    const { value } = usage.value as { value: bigint };
    if (value !== counted) yield `${rest(usage)} is ${value} instead of ${counted}`;
  }
  for (const [key, value] of counts) if (value !== 0n) yield `${key} is missing: ${value}`;
}

/** Checks that the sums of each project are those of its drives' counters and the number of its open uploads. */
function* sumProblems(entries: Entries): Generator<string> {
  const counts = new Map<string, bigint>();
  const add = (project: unknown, counter: unknown, by: bigint): void => {
    const key = textOfKey(String(project), String(counter));
    counts.set(key, (counts.get(key) ?? 0n) + by);
  };
  for (const { key, value } of all(entries, "usage")) {
    add(key[1], key[3], (value as { value: bigint }).value);
  }
  for (const { key } of all(entries, "upload")) add(key[1], "open_uploads", 1n);
  for (const sum of all(entries, "project_usage")) {
    const { value } = sum.value as { value: bigint };
    const counted = counts.get(rest(sum)) ?? 0n;
    counts.delete(rest(sum));
    if (value !== counted) yield `The sum ${rest(sum)} is ${value} instead of ${counted}`;
  }
  for (const [key, value] of counts) {
    if (value !== 0n) yield `The sum ${key} is missing: ${value}`;
  }
}

/** Finds files that expire and are not in the index by deadline, and entries of the index without their file. */
function* expiryProblems(entries: Entries): Generator<string> {
  const indexed = new Set(all(entries, "expiry").map((entry) => rest(entry)));
  for (const file of all(entries, "file")) {
    const { expires, version } = file.value as FileValue;
    if (expires === undefined) continue;
    if (!indexed.delete(textOfKey(expires, version))) yield `${rest(file)} would never expire`;
  }
  for (const key of indexed) yield `The deadline ${key} has no file`;
}

/** Finds links that their drive does not list, and lists and counters without their link. */
function* linkProblems(entries: Entries): Generator<string> {
  const listed = new Map(all(entries, "drive_link").map((one) => [one.key[3], rest(one)]));
  const counted = new Set(all(entries, "link_downloads").map(({ key }) => key[1]));
  for (const { key: [, id] } of all(entries, "link")) {
    if (!listed.delete(id)) yield `The link ${String(id)} is not listed`;
    counted.delete(id);
  }
  for (const key of listed.values()) yield `The list has a link that does not exist: ${key}`;
  for (const id of counted) yield `The downloads of ${String(id)} are counted without a link`;
}

/** Finds owned entries that a journal would remove, and running writes without both of their entries. */
function* journalProblems(entries: Entries, { users }: Owned): Generator<string> {
  for (const { value } of [...all(entries, "pending"), ...all(entries, "garbage")]) {
    const { kind, version } = value as GarbageValue;
    // A reference is a user itself.
    const isOwned = kind !== "reference" && users.has(version);
    if (isOwned) yield `An owned entry is to be removed: ${JSON.stringify(value)}`;
  }
  const leases = new Set(all(entries, "lease").map((lease) => rest(lease)));
  const writes = new Set(all(entries, "pending").map((write) => rest(write)));
  for (const id of leases.symmetricDifference(writes)) {
    yield `A lease or its write is missing: ${id}`;
  }
}

/** What is due later than this was not for a sweep, in milliseconds. */
const LATE = 12 * 3_600_000;

/** Finds entries that a sweep must remove. Deadlines of open uploads and of the trash stay. */
function* leftovers(entries: Entries): Generator<string> {
  const open = new Map(
    all(entries, "upload").map((upload) => [rest(upload), (upload.value as SessionValue).expires]),
  );
  const trash = new Set(all(entries, "trash").map((item) => rest(item)));
  const bytes = new Set(
    ["chunk", "checksums"].flatMap((kind) => all(entries, kind)).map(versionOf),
  );
  for (const { key, value } of all(entries, "garbage")) {
    const { kind, project, drive, id, version } = value as GarbageValue;
    const isDeadline = kind === "upload"
      ? open.get(textOfKey(project, drive, id)) === key[1]
      : kind === "trash" && trash.has(textOfKey(project, drive, id));
    // The deadline of an entry, which may be deleted already.
    if (kind === "entry") continue;
    // Bytes of a writer that seemed dead are deleted twice, in case it was only stopped: at once, and after a day.
    const isSecond = kind === "chunks" && Number(key[1]) > Date.now() + LATE && !bytes.has(version);
    if (!isDeadline && !isSecond) {
      yield `Garbage of the kind ${kind} is left: ${textOfKey(...key.slice(1))}`;
    }
  }
  for (const kind of ["pending", "lease", "removal"]) {
    for (const entry of all(entries, kind)) yield `A ${kind} is left: ${rest(entry)}`;
  }
}

/**
 * Sweeps and audits the store of a stopped server, and fails if an entry still contains a project's id, or with two
 * arguments the project's id and the drive's name. The audit logs name what was deleted.
 */
export async function assertNoTraceOf(data: string, ...what: string[]): Promise<void> {
  await sweepStore(data);
  await auditStore(data, true);
  const found: string[] = [];
  for (const [kind, entries] of await readEntries(data)) {
    if (kind === "server_event") continue;
    for (const { key, value } of entries) {
      if (kind === "event" && (value as { event: string }).event === "drive.deleted") continue;
      const text = Deno.inspect([key, value], { depth: 9, strAbbreviateSize: Infinity });
      if (what.every((one) => text.includes(JSON.stringify(one)))) found.push(text);
    }
  }
  assertEquals(found, [], `${found.length} entries contain ${what.join(" and ")}`);
}
