/**
 * What is at a path: files, and folders, which exist while something is below them or their marker is kept. A name may be
 * both; then a path without a slash at its end is the file.
 *
 * @module
 */
import { driveNameProblem, fileNameProblem, folderNameProblem } from "../rules/names.ts";
import type { FileRecord, Place } from "../store/engine/records.ts";
import type { OpenFile } from "../store/files/file_reader.ts";
import type { Store } from "../store/store.ts";
import type { DavCall, DavDeps } from "./dav_call.ts";
import { type DavError, davErrors } from "./dav_error.ts";
import { type DavPath, hrefOf, lastSegment, parentOf } from "./dav_path.ts";

/** A folder without a place: that of all projects, or a project with its drives. */
export interface UpperFolder {
  kind: "root" | "project";
}

/** A folder in a drive, or a drive, whose name is empty. */
export interface Folder {
  kind: "folder";
  place: Place;
}

export interface File {
  kind: "file";
  place: Place;
  record: FileRecord;
}

/** Nothing. Its name is that of a file; a folder would have a slash at its end. */
export interface Absent {
  kind: "absent";
  place: Place;
  /** Whether the path ends with a slash. */
  isFolder: boolean;
}

export type Resource = UpperFolder | Folder | File | Absent;

/**
 * Finds what is at a path.
 *
 * @throws {DavError} 400 if it can be no name.
 * @throws {RightMissing} if the key is not for its drive. The caller checks the name.
 */
export async function findResource(
  call: DavCall,
  { store }: DavDeps,
  path: DavPath,
): Promise<Resource> {
  if (path.project === "") return { kind: "root" };
  if (path.drive === "") return { kind: "project" };
  const place = await placeOf(call, store, path);
  if (path.name === "") {
    const exists = await store.projects.hasDrive(place.project, place.drive);
    return exists ? { kind: "folder", place } : { kind: "absent", place, isFolder: true };
  }
  const record = path.isFolder ? undefined : await store.files.reader.stat(place);
  return await resourceOf(store, place, record, path);
}

/**
 * Returns the place of a file that is to be written.
 *
 * @throws {DavError} 400 if its path can be no name, 405 if it is that of a folder.
 * @throws {RightMissing} if the key is not for its drive or its name.
 */
export async function writtenPlace(
  call: DavCall,
  { store }: DavDeps,
  path: DavPath,
): Promise<Place> {
  if (path.drive === "") throw noBytes();
  const place = await placeOf(call, store, path);
  const { name } = place;
  call.rights.requireName(name === "" || !path.isFolder ? name : folderNameOf(name));
  if (name === "" || path.isFolder) throw noBytes();
  return place;
}

/** The error of a write to the name of a folder. */
export function noBytes(): DavError {
  return davErrors.methodNotAllowed(
    "A folder has no bytes: PUT a file, or create a folder with MKCOL",
    "OPTIONS, PROPFIND, MKCOL, DELETE, COPY, MOVE, LOCK, UNLOCK",
  );
}

async function resourceOf(
  store: Store,
  place: Place,
  record: FileRecord | undefined,
  { isFolder }: DavPath,
): Promise<File | Folder | Absent> {
  if (record !== undefined) return { kind: "file", place, record };
  const folder = { ...place, name: `${place.name}/` };
  if (await folderExists(store, folder)) return { kind: "folder", place: folder };
  return { kind: "absent", place, isFolder };
}

/**
 * Opens the file at a path; `undefined` if there is none. It is one read, and none for a file in the cache.
 *
 * @throws {DavError} as `findResource` does.
 * @throws {RightMissing} if the key is not for its drive. A file that it may not see counts as none.
 */
export async function openFile(
  call: DavCall,
  { store }: DavDeps,
  path: DavPath,
): Promise<{ place: Place; file: OpenFile } | undefined> {
  if (path.name === "" || path.isFolder) return undefined;
  const place = await placeOf(call, store, path);
  if (!call.rights.allowsName(place.name)) return undefined;
  const file = await store.files.reader.open(place);
  return file && { place, file };
}

/** The place of a file or a drive, by the form of its name that is stored. */
async function placeOf(
  { project, rights }: DavCall,
  store: Store,
  path: DavPath,
): Promise<Place> {
  const { drive, name } = path;
  const driveProblem = driveNameProblem(drive);
  if (driveProblem !== undefined) throw davErrors.badPath(`has a drive name that ${driveProblem}`);
  rights.requireDrive(drive);
  if (name === "") return { project, drive, name };
  const problem = fileNameProblem(name);
  if (problem !== undefined) throw davErrors.badPath(`has a file name that ${problem}`);
  const exists = async (name: string) => {
    const place = { project, drive, name };
    // Another form of a name may be longer than a name can be.
    if (name.endsWith("/")) return !folderNameProblem(name) && await store.folderExists(place);
    return !fileNameProblem(name) && await store.files.reader.stat(place) !== undefined;
  };
  return { project, drive, name: await storedForm(name, exists) };
}

/**
 * Finds what has the name of a path, whether the path ends with a slash or not: a new name must not be that of a file and
 * of a folder.
 *
 * @throws {DavError} as `findResource` does.
 */
export async function findNamed(
  call: DavCall,
  deps: DavDeps,
  path: DavPath,
): Promise<Resource> {
  const resource = await findResource(call, deps, path);
  if (resource.kind !== "absent" || !path.isFolder || path.name === "") return resource;
  return await findResource(call, deps, { ...path, isFolder: false });
}

/** Returns the name of a folder in place of that of a file or a folder. */
export function folderNameOf(name: string): string {
  return name.endsWith("/") ? name : `${name}/`;
}

/** The path of a resource for clients. */
export function hrefOfResource(
  { project, path }: DavCall,
  { basePath }: DavDeps,
  resource: Resource,
): string {
  if (!("place" in resource)) return hrefOf(basePath, path.project);
  const { drive, name } = resource.place;
  return hrefOf(basePath, project, drive, name);
}

/** @throws {RightMissing} if the key may not see that something is there: it is not for the name, nor for one below it. */
export function requireVisible({ rights }: DavCall, resource: Resource): void {
  if (!("place" in resource)) return;
  const { name } = resource.place;
  const isAbove = resource.kind !== "file" && rights.visiblePrefix(name) !== undefined;
  if (!isAbove) rights.requireName(name);
}

/** Returns whether there is a marker of a folder, or a file below it. */
export async function folderExists(
  store: Store,
  place: Place,
): Promise<boolean> {
  if (place.name === "") return await store.projects.hasDrive(place.project, place.drive);
  return await store.folderExists(place);
}

/** Returns whether the folder exists that a file or a folder is in, or would be. Most of them have a marker. */
export async function parentExists(store: Store, place: Place): Promise<boolean> {
  const parent = { ...place, name: parentOf(place.name) };
  if (parent.name !== "" && await store.folders.get(parent) !== undefined) return true;
  return await folderExists(store, parent);
}

/**
 * Keeps the folder that something was removed from, which would be gone with the last name below it: clients expect that
 * it stays. A key that may not write it leaves that out.
 */
export async function keepParent(
  { rights }: Pick<DavCall, "rights">,
  store: Store,
  removed: Place,
): Promise<void> {
  const parent = { ...removed, name: parentOf(removed.name) };
  if (parent.name === "" || !rights.has("write") || !rights.allowsName(parent.name)) return;
  if (!await folderExists(store, parent)) await store.folders.create(parent);
}

/** What macOS writes beside files: their attributes (AppleDouble), and how a folder is shown. */
const JUNK = /^(?:\._.*|\.DS_Store)$/;

/** @throws {DavError} 403 for a file of macOS, with `--webdav-no-junk`. */
export function refuseJunk({ webdav: { refusesJunk } }: DavDeps, { name }: Place): void {
  if (refusesJunk && JUNK.test(lastSegment(name))) {
    throw davErrors.forbidden("This server does not keep ._ files and .DS_Store of macOS");
  }
}

/** Names whose segments all have one form only. */
// deno-lint-ignore no-control-regex -- exactly the characters of one byte
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Returns a name in the Unicode form in which it is stored. macOS sends names in decomposed form, also those that a list had composed.
 * If there is nothing in the form that was sent, but in another, that is meant; a new name keeps the form that was sent,
 * in the folder that exists.
 *
 * @param exists Returns whether there is a file with a name, or a folder with one that ends with a slash.
 */
export async function storedForm(
  name: string,
  exists: (name: string) => Promise<boolean>,
): Promise<string> {
  if (ASCII.test(name) || await exists(name)) return name;
  let found = "";
  const segments = name.split("/");
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const forms = new Set([segment, segment.normalize("NFC"), segment.normalize("NFD")]);
    const stored = forms.size === 1 ? segment : await firstOf(forms, async (form) => {
      const place = `${found}${form}`;
      return isLast && await exists(place) || await exists(`${place}/`);
    });
    // Nothing is below a folder that does not exist.
    if (stored === undefined) return found + segments.slice(index).join("/");
    found += isLast ? stored : `${stored}/`;
  }
  return found;
}

async function firstOf(
  forms: Iterable<string>,
  holds: (form: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const form of forms) if (await holds(form)) return form;
  return undefined;
}
