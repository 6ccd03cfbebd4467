import { SECOND } from "../../rules/units.ts";
import { contentTypeOf } from "../../rules/content_type.ts";
import { byteLength } from "../../rules/names.ts";
import type { LockRecord, Place } from "../../store/engine/records.ts";
import { escapeText } from "../../xml/xml_writer.ts";
import { XmlNode } from "../../xml/xml_reader.ts";
import { type DavCall, davChildren, type DavDeps, readDocument } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { hrefOf } from "../dav_path.ts";
import { holderOf, requireUnlocked } from "../locks/guard.ts";
import { conflicting, covers, isHeld } from "../locks/lock_rules.ts";
import { activeLock, TOKEN_SCHEME } from "../properties/live_properties.ts";
import { serialize } from "../properties/property_name.ts";
import {
  type Absent,
  type File,
  findResource,
  type Folder,
  parentExists,
  refuseJunk,
} from "../resource.ts";
import { emptyResponse, xmlResponse } from "../responses.ts";

/** The life of a lock that asks for none or for ever, in milliseconds: a client that is gone should not block others for long. */
const DEFAULT_LIFETIME = 3600 * SECOND;

/** The longest life of a lock, in milliseconds. */
const MAX_LIFETIME = 24 * 3600 * SECOND;

/** What a client may say about its user, in bytes. */
const MAX_OWNER = 1024;

type Lockable = File | Folder | Absent;

/** `LOCK`: locks a name, on which there may be no file, or refreshes a lock if there is no body. */
export async function lock(call: DavCall, deps: DavDeps): Promise<Response> {
  const document = await readDocument(call, deps, "lockinfo");
  const resource = await lockable(call, deps);
  if (document === undefined) return await refresh(call, deps, resource);
  const { place, kind } = resource;
  const { project, drive, name } = place;
  const isNew = kind === "absent";
  if (isNew) await requireCreatable(call, deps, resource);
  const holder = await holderOf(call, deps, resource);
  // A new file changes its folder. An existing name is not changed by its lock.
  if (isNew) await requireUnlocked(call, deps, holder, [{ drive, name, ...NEW_FILE }]);
  const isDeep = depthOf(call) === "infinity" && kind === "folder";
  const lifetime = lifetimeOf(call);
  const wanted: LockRecord = {
    token: `${TOKEN_SCHEME}${crypto.randomUUID()}`,
    name,
    ...lockInfoIn(document),
    isDeep,
    by: call.by,
    expires: Date.now() + lifetime,
    lifetime,
  };
  const conflict = await deps.store.locks.change({ project, drive }, (locks) => {
    const other = conflicting(locks, wanted);
    return other === undefined
      ? { locks: [...locks, wanted], result: undefined }
      : { result: other };
  });
  if (conflict !== undefined) {
    throw davErrors.conflictingLock([hrefOf(deps.basePath, project, drive, conflict.name)]);
  }
  const isCreated = isNew && await createEmpty(call, deps, place, wanted);
  const headers = { "Lock-Token": `<${wanted.token}>` };
  return lockResponse(deps, isCreated ? 201 : 200, { place, lock: wanted }, headers);
}

const NEW_FILE = { changesFolder: true, isDeep: false };

async function lockable(call: DavCall, deps: DavDeps): Promise<Lockable> {
  const resource = await findResource(call, deps, call.path);
  if (!("place" in resource)) throw davErrors.forbidden("A project cannot be locked: lock a drive");
  call.rights.requireName(resource.place.name);
  return resource;
}

/** @throws {DavError} 409 if no file can be created there. */
async function requireCreatable(
  { path }: DavCall,
  deps: DavDeps,
  { place }: Absent,
): Promise<void> {
  refuseJunk(deps, place);
  if (path.isFolder || !await parentExists(deps.store, place)) throw davErrors.noParent();
}

/**
 * "A successful lock request to an unmapped URL MUST result in the creation of a locked (non-collection) resource with
 * empty content" (RFC 4918, 7.3). Returns whether it was created here.
 */
async function createEmpty(
  { project }: DavCall,
  { store }: DavDeps,
  place: Place,
  { token }: LockRecord,
): Promise<boolean> {
  try {
    using _reserved = await store.reserveDisk(0);
    const created = await store.files.put({ ...place, needsDrive: true }, noBytes(), {
      type: contentTypeOf(place.name),
      announced: 0,
      condition: (current) => current === undefined,
      accept: () => {},
    });
    return created !== "refused";
  } catch (error) {
    const { drive } = place;
    await store.locks.change({ project, drive }, (locks) => ({
      locks: locks.filter((other) => other.token !== token),
      result: undefined,
    }));
    throw error;
  }
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** @throws {DavError} 400 if the document asks for no lock. */
function lockInfoIn(document: XmlNode): Pick<LockRecord, "scope" | "owner"> {
  const within = (name: string) => davChildren(document, name).flatMap(({ children }) => children);
  const [scope] = within("lockscope").map(({ name }) => name);
  const [type] = within("locktype").map(({ name }) => name);
  if (scope !== "exclusive" && scope !== "shared" || type !== "write") {
    throw davErrors.badXml("asks not for an exclusive or a shared write lock");
  }
  const [said] = davChildren(document, "owner");
  if (said === undefined) return { scope };
  const owner = said.content
    .map((item) => item instanceof XmlNode ? serialize(item) : escapeText(item))
    .join("");
  if (byteLength(owner) > MAX_OWNER) {
    throw davErrors.badXml(`has an owner of more than ${MAX_OWNER} bytes`);
  }
  return { scope, owner };
}

function depthOf({ request: { headers } }: DavCall): string {
  const depth = headers.get("depth")?.trim().toLowerCase() ?? "infinity";
  if (depth !== "0" && depth !== "infinity") {
    throw davErrors.badHeader("Depth", depth, "0 or infinity");
  }
  return depth;
}

/** The life that the header `Timeout` asks for, in milliseconds: the first one that is understood (RFC 4918, 10.7). */
function lifetimeOf({ request: { headers } }: DavCall): number {
  for (const wanted of (headers.get("timeout") ?? "").split(",")) {
    const [, seconds] = /^\s*second-(\d{1,10})\s*$/i.exec(wanted) ?? [];
    if (seconds === undefined) continue;
    return Math.min(Math.max(Number(seconds), 1) * SECOND, MAX_LIFETIME);
  }
  return DEFAULT_LIFETIME;
}

/** "A lock is refreshed by sending a LOCK request without a request body" and its token in `If` (RFC 4918, 9.10.2). */
async function refresh(
  call: DavCall,
  deps: DavDeps,
  resource: Lockable,
): Promise<Response> {
  const { place } = resource;
  const { project, drive, name } = place;
  const holder = await holderOf(call, deps, resource);
  const hasTimeout = call.request.headers.has("timeout");
  const refreshed = await deps.store.locks.change({ project, drive }, (locks) => {
    const held = locks.find((lock) => covers(lock, name) && isHeld(lock, holder));
    if (held === undefined) return { result: undefined };
    const lifetime = hasTimeout ? lifetimeOf(call) : held.lifetime;
    const result = { ...held, lifetime, expires: Date.now() + lifetime };
    return { locks: locks.map((lock) => lock === held ? result : lock), result };
  });
  if (refreshed === undefined) {
    throw davErrors.preconditionFailed(
      "The request has no body and no token of a lock of this key in the header If: send one of them",
    );
  }
  return lockResponse(deps, 200, { place, lock: refreshed });
}

function lockResponse(
  { basePath }: DavDeps,
  status: number,
  { place: { project, drive }, lock }: { place: Place; lock: LockRecord },
  headers: Readonly<Record<string, string>> = {},
): Response {
  const href = hrefOf(basePath, project, drive, lock.name);
  const text = '<?xml version="1.0" encoding="utf-8"?>\n<D:prop xmlns:D="DAV:"><D:lockdiscovery>' +
    `${activeLock({ ...lock, href })}</D:lockdiscovery></D:prop>`;
  return xmlResponse(status, text, headers);
}

/** `UNLOCK`: ends a lock that the same key made. A key that administers the project may end those of others. */
export async function unlock(call: DavCall, deps: DavDeps): Promise<Response> {
  const header = call.request.headers.get("lock-token") ?? "";
  // The client of npm leaves the brackets out.
  const [, token] = /^\s*<?([^<>\s]+)>?\s*$/.exec(header) ?? [];
  if (token === undefined) {
    throw davErrors.badHeader("Lock-Token", header, "the token of a lock in angle brackets");
  }
  const { place: { project, drive, name } } = await lockable(call, deps);
  const outcome = await deps.store.locks.change({ project, drive }, (locks) => {
    const found = locks.find((lock) => lock.token === token && covers(lock, name));
    if (found === undefined) return { result: "absent" };
    if (found.by !== call.by && !call.rights.isOwners) return { result: "of others" };
    return { locks: locks.filter((lock) => lock !== found), result: "ended" };
  });
  if (outcome === "of others") throw davErrors.forbidden("The lock was made with another key");
  if (outcome === "ended") return emptyResponse(204);
  throw davErrors.noSuchLock();
}
