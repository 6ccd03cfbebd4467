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
interface ProjectValue {
  maxBytes?: number;
  removing?: string[];
}

const KINDS = new Set([
  ...ACCOUNT_KINDS,
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
  "manifest",
  "open_upload",
  "part",
  "parts_revision",
  "pending",
  "quota",
  "references",
  "scrub",
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
    ...quotaProblems(entries),
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
  yield* numberProblems(entries);
}

/** Checks that every open upload holds a unique number of its project, and counts the bytes of its parts. */
function* numberProblems(entries: Entries): Generator<string> {
  const held = new Map(
    all(entries, "open_upload").map((one) => {
      const { drive, id } = one.value as { drive: string; id: string };
      return [rest(one), textOfKey(String(one.key[1]), drive, id)];
    }),
  );
  for (const upload of all(entries, "upload")) {
    const { number = -1 } = upload.value as SessionValue;
    const key = textOfKey(String(upload.key[1]), number);
    if (held.get(key) !== rest(upload)) yield `${rest(upload)} does not hold its number ${number}`;
    held.delete(key);
    const bytes = all(entries, "part").filter((part) => rest(part, -1) === rest(upload))
      .reduce((sum, part) => sum + BigInt((part.value as PartValue).size), 0n);
    const revision = all(entries, "parts_revision").find((one) => rest(one) === rest(upload));
    const counted = (revision?.value as { value: bigint } | undefined)?.value ?? 0n;
    if (counted !== bytes) yield `${rest(upload)} counts ${counted} instead of ${bytes}`;
  }
  for (const key of held.keys()) yield `The number ${key} has no open upload`;
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

function* usageProblems(entries: Entries): Generator<string> {
  const counts = new Map<string, bigint>();
  const add = (drive: Entry["key"], counter: string, by: number): void => {
    const key = textOfKey(...drive, counter);
    counts.set(key, (counts.get(key) ?? 0n) + BigInt(by));
  };
  for (const { key, value } of all(entries, "file")) {
    add(key.slice(1, 3), "files", 1);
    add(key.slice(1, 3), "bytes", (value as FileValue).size);
  }
  for (const { key, value } of all(entries, "trash")) {
    add(key.slice(1, 3), "trash_files", 1);
    add(key.slice(1, 3), "trash_bytes", (value as TrashValue).record.size);
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

/** Checks that the usage of a project with a quota is the sum of its drives' counters, including open uploads. */
function* quotaProblems(entries: Entries): Generator<string> {
  const projects = new Map(
    all(entries, "project").map(({ key, value }) => [key[1], value as ProjectValue]),
  );
  for (const { key: [, project], value } of all(entries, "quota")) {
    const owner = projects.get(project);
    const sum = all(entries, "usage")
      .filter(({ key }) => key[1] === project && String(key[3]).endsWith("bytes"))
      .filter(({ key }) => !owner?.removing?.includes(String(key[2])))
      .reduce((bytes, usage) => bytes + Number((usage.value as { value: bigint }).value), 0);
    const { bytes } = value as { bytes: number };
    if (owner?.maxBytes === undefined) {
      yield `The project ${String(project)} has a sum but no quota`;
    }
    if (bytes !== sum) yield `The quota of ${String(project)} has ${bytes} instead of ${sum}`;
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

/** Finds entries that a sweep must remove. Deadlines of open uploads and of the trash stay. */
function* leftovers(entries: Entries): Generator<string> {
  const open = new Map(
    all(entries, "upload").map((upload) => [rest(upload), (upload.value as SessionValue).expires]),
  );
  const trash = new Set(all(entries, "trash").map((item) => rest(item)));
  for (const { key, value } of all(entries, "garbage")) {
    const { kind, project, drive, id } = value as GarbageValue;
    const isDeadline = kind === "upload"
      ? open.get(textOfKey(project, drive, id)) === key[1]
      : kind === "trash" && trash.has(textOfKey(project, drive, id));
    // The deadline of an entry, which may be deleted already.
    if (kind === "entry") continue;
    if (!isDeadline) yield `Garbage of the kind ${kind} is left: ${textOfKey(...key.slice(1))}`;
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
