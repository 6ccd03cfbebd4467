import { folderNameProblem } from "../../rules/names.ts";
import { type DavCall, type DavDeps, refuseBody } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { holderOf, requireUnlocked } from "../locks/guard.ts";
import { findNamed, folderNameOf, parentExists, refuseJunk } from "../resource.ts";
import { emptyResponse } from "../responses.ts";

/** `MKCOL`: creates a folder; directly in a project, a drive. */
export async function mkcol(call: DavCall, deps: DavDeps): Promise<Response> {
  refuseBody(call);
  const { rights, project } = call;
  const { store } = deps;
  const resource = await findNamed(call, deps, call.path);
  if ("place" in resource && resource.place.name !== "") {
    rights.requireName(folderNameOf(resource.place.name));
  }
  if (resource.kind !== "absent") {
    throw davErrors.methodNotAllowed(
      "There is something with this name: choose another one",
      "OPTIONS, PROPFIND, DELETE, COPY, MOVE, LOCK, UNLOCK",
    );
  }
  const { place } = resource;
  const { drive } = place;
  if (place.name === "") {
    rights.requireAllNames();
    await store.projects.createDrive(project, drive);
    return emptyResponse(201);
  }
  const folder = { ...place, name: folderNameOf(place.name), needsDrive: true };
  const problem = folderNameProblem(folder.name);
  if (problem !== undefined) throw davErrors.badPath(`has a folder name that ${problem}`);
  refuseJunk(deps, place);
  if (!await parentExists(store, folder)) throw davErrors.noParent();
  const holder = await holderOf(call, deps, resource);
  await requireUnlocked(call, deps, holder, [
    { drive, name: folder.name, changesFolder: true, isDeep: false },
  ]);
  using _reserved = await store.reserveDisk(0);
  await store.folders.create(folder);
  return emptyResponse(201);
}
