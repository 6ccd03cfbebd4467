import {
  all,
  bytesVersion,
  type Entries,
  type FileValue,
  rest,
  type StoredValue,
  textOfKey,
  versionOf,
} from "./entries.ts";

/** The fields of records that the audit needs. */
export interface PartValue {
  version: string;
  size: number;
}
export interface PageValue {
  versions: string[];
  sizes: number[];
}
export interface SessionValue {
  name: string;
  expires: number;
}
export interface GarbageValue {
  kind:
    | "chunks"
    | "manifest"
    | "reference"
    | "upload"
    | "parts"
    | "trash"
    | "whole_trash"
    | "entry";
  project: string;
  drive: string;
  name: string;
  version: string;
  id: string;
  /** Numbers of parts that a completed upload did not use. */
  unused?: number[];
}

/** An item of the trash. */
export interface TrashValue {
  expires: number;
  record: FileValue;
}

/** The versions and uploads that have an owner. "passing" ones are about to be removed or published. */
export class Owned {
  /** Versions that must have all of their chunks, with the sum of their bytes. */
  readonly needed = new Map<string, number>();
  /** Versions that must have a content, with its bytes. */
  readonly contents = new Map<string, number>();
  /** Versions that must have a list of parts. */
  readonly manifests = new Set<string>();
  /** Versions that may have chunks. */
  readonly passing = new Set<string>();
  readonly passingManifests = new Set<string>();
  readonly passingUploads = new Set<string>();
  /** How many records use the bytes of a version, and how many of them say that they share it. */
  readonly users = new Map<string, { count: number; marked: number }>();

  /** Adds what a file, or a released reference, says about its bytes. */
  addBytes(version: string, { size, layout }: StoredValue, isMarked: boolean): void {
    this.addUser(version, isMarked);
    switch (layout.kind) {
      case "inline":
        this.contents.set(version, size);
        break;
      case "chunks":
        this.needed.set(version, size);
        break;
      case "manifest":
        this.manifests.add(version);
    }
  }

  addPart(version: string, size: number): void {
    this.addUser(version, false);
    this.needed.set(version, size);
  }

  private addUser(version: string, isMarked: boolean): void {
    const { count, marked } = this.users.get(version) ?? { count: 0, marked: 0 };
    this.users.set(version, { count: count + 1, marked: marked + (isMarked ? 1 : 0) });
  }
}

/** Returns what the files, uploads and journals of a store own. */
export function ownedIn(entries: Entries): Owned {
  const owned = new Owned();
  ownByFiles(entries, owned);
  ownByUploads(entries, owned);
  ownByJournals(entries, owned);
  return owned;
}

/** Files own their bytes, in the trash too, and so does the journal entry of a file that shared them until it is counted. */
function ownByFiles(entries: Entries, owned: Owned): void {
  for (const record of recordsIn(entries)) {
    owned.addBytes(bytesVersion(record), record, record.shared === true);
    const { thumbnail } = record;
    if (thumbnail === undefined) continue;
    const { version, size, shared } = thumbnail;
    owned.addBytes(version, { size, layout: { kind: "inline" } }, shared === true);
  }
  for (const { value } of all(entries, "garbage")) {
    const { kind, version } = value as GarbageValue;
    if (kind === "reference") owned.addBytes(version, value as StoredValue, true);
  }
  for (const page of all(entries, "manifest")) {
    const isOwned = owned.manifests.has(versionOf(page));
    const { versions, sizes } = page.value as PageValue;
    for (const [i, version] of versions.entries()) {
      if (isOwned) owned.addPart(version, sizes[i] ?? 0);
      else owned.passing.add(version);
    }
  }
}

/** Returns the records of all files, and of those in the trash. */
export function recordsIn(entries: Entries): FileValue[] {
  const files = all(entries, "file").map(({ value }) => value as FileValue);
  return [...files, ...all(entries, "trash").map(({ value }) => (value as TrashValue).record)];
}

function ownByUploads(entries: Entries, owned: Owned): void {
  const open = new Set(all(entries, "upload").map((upload) => rest(upload)));
  for (const part of all(entries, "part")) {
    const { version, size } = part.value as PartValue;
    if (open.has(rest(part, -1))) owned.addPart(version, size);
  }
}

function ownByJournals(entries: Entries, owned: Owned): void {
  for (const { value } of all(entries, "pending")) {
    owned.passing.add((value as GarbageValue).version);
  }
  for (const { value } of all(entries, "garbage")) {
    const { kind, project, drive, version, id, unused = [] } = value as GarbageValue;
    if (kind === "chunks") owned.passing.add(version);
    if (kind === "manifest") owned.passingManifests.add(version);
    if (kind !== "upload" && kind !== "parts") continue;
    const upload = textOfKey(project, drive, id);
    owned.passingUploads.add(upload);
    for (const part of all(entries, "part")) {
      // The bytes of the other parts of a completed upload belong to its file.
      const isPassing = kind === "upload" || unused.includes(Number(part.key.at(-1)));
      if (isPassing && rest(part, -1) === upload) {
        owned.passing.add((part.value as PartValue).version);
      }
    }
  }
}
