import { deleteEntry } from "../../api/files/prefixes.ts";
import type { Place } from "../../store/engine/records.ts";
import type { CopyKind } from "../../store/files/copies.ts";
import type { WriteGuard } from "../../store/files/file_record.ts";
import type { DavCall, DavDeps } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { type DavPath, hrefOf } from "../dav_path.ts";
import { deleteTree, type Failure, transferTree, type TreeCall } from "../folder_tree.ts";
import { endLocks, guardOf, holderOf, pathOfUrl, type PlacedChange } from "../locks/guard.ts";
import {
  type Absent,
  type File,
  findNamed,
  findResource,
  type Folder,
  folderNameOf,
  keepParent,
  parentExists,
  refuseJunk,
} from "../resource.ts";
import { emptyResponse } from "../responses.ts";
import { failureResponse, treeCall } from "./delete.ts";
import { refused, writeCondition } from "./put.ts";

/** A copy or move whose source and destination were found. */
interface Transfer {
  kind: CopyKind;
  source: File | Folder;
  /** What is there now. */
  target: File | Folder | Absent;
  /** Where the source goes. */
  to: Place;
  overwrite: boolean;
  /** Whether a folder is copied without what is in it. */
  isShallow: boolean;
}

/** `COPY`: a file, or a folder with everything in it, within the project. */
export async function copy(call: DavCall, deps: DavDeps): Promise<Response> {
  return await transfer("copy", call, deps);
}

/** `MOVE`: the same, and the source is gone. */
export async function move(call: DavCall, deps: DavDeps): Promise<Response> {
  return await transfer("move", call, deps);
}

async function transfer(kind: CopyKind, call: DavCall, deps: DavDeps): Promise<Response> {
  const { request: { headers }, rights } = call;
  const destination = destinationOf(call, deps);
  const overwrite = overwrites(headers);
  const source = await sourceOf(kind, call, deps);
  const isFolder = source.kind === "folder";
  if (isFolder) rights.require("list");
  const target = await targetOf(call, deps, destination);
  const to = { ...target.place, name: nameFor(isFolder, target) };
  rights.requireName(to.name);
  // A file in the place of a folder has another name, which goes.
  if (target.kind !== "absent") rights.requireName(target.place.name);
  refuseJunk(deps, to);
  requireApart(source.place, target.place, to);
  const isTaken = target.kind !== "absent";
  if (isTaken && !overwrite) throw davErrors.targetExists();
  // Replacing a folder deletes what is in it, and so does replacing one by a file.
  if (target.kind === "folder" || isTaken && target.kind !== source.kind) rights.require("delete");
  if (!await parentExists(deps.store, to)) throw davErrors.noParent();
  const holder = await holderOf(call, deps, source);
  const isShallow = depthOf(call, kind, isFolder) === "0";
  const asked = { kind, source, target, to, overwrite, isShallow };
  const tree = treeCall(call, deps, holder);
  const guard = guardOf(call, deps, holder, changesOf(asked));
  await guard();
  await call.reauthorize();
  const failures = source.kind === "file"
    ? await transferFile(call, deps, asked, { tree, guard })
    : await transferFolder(asked, tree);
  if (failures.length > 0) return failureResponse(deps, failures);
  if (kind === "move") {
    await endLocks(deps, source.place);
    await keepParent(call, deps.store, source.place);
  }
  const location = hrefOf(deps.basePath, call.project, to.drive, to.name);
  return isTaken ? emptyResponse(204) : emptyResponse(201, { Location: location });
}

/** @throws {DavError} 400 without a valid `Destination`, 502 for another server, 403 for another project. */
function destinationOf(call: DavCall, deps: DavDeps): DavPath {
  const header = call.request.headers.get("destination") ?? "";
  if (!/^(?:https?:\/\/|\/)/i.test(header)) {
    throw davErrors.badHeader("Destination", header, "a URL of this server, or an absolute path");
  }
  const [address = ""] = header.split(/[?#]/, 1);
  const path = pathOfUrl(call, deps, address);
  if (path === undefined) throw davErrors.otherServer();
  if (path.project !== call.project) {
    throw davErrors.forbidden("The destination is in another project than the key");
  }
  return path;
}

async function sourceOf(kind: CopyKind, call: DavCall, deps: DavDeps): Promise<File | Folder> {
  const source = await findResource(call, deps, call.path);
  if (!("place" in source) || source.kind === "folder" && source.place.name === "") {
    throw davErrors.forbidden(`A drive cannot be ${kind === "copy" ? "copied" : "moved"} here`);
  }
  call.rights.requireName(source.place.name);
  if (source.kind === "absent") throw davErrors.notFound();
  return source;
}

async function targetOf(
  call: DavCall,
  deps: DavDeps,
  destination: DavPath,
): Promise<File | Folder | Absent> {
  const target = await findNamed(call, deps, destination);
  if (!("place" in target) || target.place.name === "") {
    throw davErrors.forbidden(
      "The destination is a drive or a project: name a file or a folder in it",
    );
  }
  return target;
}

/** The name of the source at the place of the target: that of a folder ends with a slash. */
function nameFor(isFolder: boolean, { place: { name } }: File | Folder | Absent): string {
  if (isFolder) return folderNameOf(name);
  return name.endsWith("/") ? name.slice(0, -1) : name;
}

/** @throws {DavError} 403 if one of source and target is the other one, or is in it. */
function requireApart(source: Place, target: Place, to: Place): void {
  if (source.drive !== to.drive) return;
  const isIn = (name: string, folder: string) => folder.endsWith("/") && name.startsWith(folder);
  if (source.name === to.name) {
    throw davErrors.forbidden("Source and destination are the same: choose another destination");
  }
  // A file may have the name of the folder that the source is in.
  const isWithin = isIn(source.name, target.name) || isIn(source.name, to.name);
  if (isIn(to.name, source.name) || isWithin) {
    throw davErrors.forbidden("One of source and destination is inside the other");
  }
}

/** "If the overwrite header is not included … the server MUST treat the request as if it has … T" (RFC 4918, 10.6). */
function overwrites(headers: Headers): boolean {
  const value = headers.get("overwrite")?.trim().toUpperCase() ?? "T";
  if (value !== "T" && value !== "F") throw davErrors.badHeader("Overwrite", value, "T or F");
  return value === "T";
}

function depthOf({ request: { headers } }: DavCall, kind: CopyKind, isFolder: boolean): string {
  const depth = headers.get("depth")?.trim().toLowerCase() ?? "infinity";
  const allowed = kind === "copy" || !isFolder ? ["0", "infinity"] : ["infinity"];
  if (!allowed.includes(depth)) throw davErrors.badHeader("Depth", depth, allowed.join(" or "));
  return depth;
}

/** The changes that need the tokens of locks. */
function changesOf({ kind, source, target, to }: Transfer): PlacedChange[] {
  const removed = { ...changeOf(source.place), changesFolder: true };
  const changesFolder = target.kind === "absent" || target.kind !== source.kind;
  const targets = new Set([to.name, target.kind === "absent" ? to.name : target.place.name]);
  return [
    ...(kind === "move" ? [removed] : []),
    ...[...targets].map((name) => ({ ...changeOf({ ...to, name }), changesFolder })),
  ];
}

function changeOf({ drive, name }: Place) {
  return { drive, name, isDeep: name.endsWith("/") };
}

/** Copies or moves a file, and deletes the folder that had its new name. Returns what failed. */
async function transferFile(
  call: DavCall,
  { store }: DavDeps,
  { kind, source, target, to, overwrite }: Transfer,
  { tree, guard }: { tree: TreeCall; guard: WriteGuard },
): Promise<Failure[]> {
  const outcome = await store.files.copies.run(kind, {
    from: source.place,
    to: { ...to, needsDrive: true },
    overwrite,
    condition: writeCondition(call),
    guard,
  });
  if (outcome === "absent") throw davErrors.notFound();
  if (outcome === "refused") throw refused();
  if (outcome === "taken") throw davErrors.targetExists();
  return target.kind === "folder" ? await deleteTree(tree, target.place) : [];
}

/** Copies or moves a folder, and deletes the file that had its new name. Returns what failed. */
async function transferFolder(
  { kind, source, target, to, isShallow }: Transfer,
  tree: TreeCall,
): Promise<Failure[]> {
  const { store } = tree;
  if (isShallow) {
    const failures = target.kind === "folder" ? await deleteTree(tree, to) : [];
    if (failures.length > 0) return failures;
    await store.folders.create(to);
  } else {
    const failures = await transferTree(tree, kind, source.place, to);
    if (failures.length > 0) return failures;
  }
  if (target.kind === "file") await deleteEntry(store, target.place, tree.guardOf(target.place));
  return [];
}
