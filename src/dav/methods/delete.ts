import type { DavCall, DavDeps } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { hrefOf } from "../dav_path.ts";
import { deleteTree, type Failure, type TreeCall } from "../folder_tree.ts";
import { endLocks, guardOf, guardOfMembers, holderOf } from "../locks/guard.ts";
import type { Holder } from "../locks/lock_rules.ts";
import { memberFailure } from "../properties/multistatus.ts";
import { findResource, type Folder, keepParent } from "../resource.ts";
import { emptyResponse, multistatus } from "../responses.ts";
import { refused, writeCondition } from "./put.ts";

/** `DELETE`: a file, or a folder with everything in it. A drive must be empty. */
export async function remove(call: DavCall, deps: DavDeps): Promise<Response> {
  const { rights } = call;
  const resource = await findResource(call, deps, call.path);
  if (!("place" in resource)) {
    throw davErrors.forbidden("A project cannot be deleted here: ask the server's administrator");
  }
  const { place } = resource;
  const { drive, name } = place;
  rights.requireName(name);
  const depth = call.request.headers.get("depth")?.toLowerCase() ?? "infinity";
  if (resource.kind === "folder" && depth !== "infinity") {
    throw davErrors.badHeader("Depth", depth, "infinity, as everything below the folder goes");
  }
  if (resource.kind === "absent") throw davErrors.notFound();
  const holder = await holderOf(call, deps, resource);
  const change = { drive, name, changesFolder: true, isDeep: resource.kind === "folder" };
  const guard = guardOf(call, deps, holder, [change]);
  await guard();
  if (resource.kind === "folder" && name === "") return await removeDrive(call, deps, resource);
  if (resource.kind === "file") {
    const outcome = await deps.store.files.delete(place, writeCondition(call), guard);
    if (outcome === "refused") throw refused();
  } else {
    const failures = await deleteTree(treeCall(call, deps, holder), place);
    if (failures.length > 0) return failureResponse(deps, failures);
  }
  await endLocks(deps, place);
  await keepParent(call, deps.store, place);
  return emptyResponse(204);
}

/** Deletes a drive unless something is in it: no folder of a client should end a whole drive, past its trash. */
async function removeDrive(
  { project, rights, actor }: DavCall,
  { store }: DavDeps,
  { place: { drive } }: Folder,
): Promise<Response> {
  rights.requireAllNames();
  const outcome = await store.projects.deleteEmptyDrive(project, drive, actor());
  if (outcome === "deleted") return emptyResponse(204);
  if (outcome === "absent") throw davErrors.notFound();
  throw davErrors.forbidden(
    "The drive has files, folders, or files in the trash: delete these first, or the drive in the dashboard",
  );
}

/** How a request changes folders with everything in them. */
export function treeCall(call: DavCall, deps: DavDeps, holder: Holder): TreeCall {
  return {
    store: deps.store,
    guardOf: guardOfMembers(call, deps, holder),
    onDefect: (cause) => deps.onError(cause, call.requestId),
  };
}

/** The response to a request that failed for some of the names below its folder. */
export function failureResponse(
  { basePath }: DavDeps,
  failures: readonly Failure[],
): Response {
  const responses = failures.map(({ place: { project, drive, name }, error }) =>
    memberFailure(hrefOf(basePath, project, drive, name), error.status, error.condition)
  );
  return multistatus(responses.join(""));
}
