/**
 * What a request needs before it changes something: that the conditions of its header `If` hold, and that it has the
 * tokens of the locks on what it changes.
 *
 * @module
 */
import { parseTarget } from "../../http/request_target.ts";
import type { SharedCheck } from "../../store/engine/operation.ts";
import type { LockRecord, Place } from "../../store/engine/records.ts";
import type { WriteGuard } from "../../store/files/file_record.ts";
import type { DriveLocks } from "../../store/locks/lock_store.ts";
import type { DavCall, DavDeps } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { type DavPath, hrefOf, parsePath } from "../dav_path.ts";
import { DAV } from "../dav_request.ts";
import { findResource, type Resource } from "../resource.ts";
import { type Condition, parseIf, tokensIn } from "./if_header.ts";
import { type Change, covers, type Holder, missingFor, withoutBelow } from "./lock_rules.ts";

/** A change of a name in a drive. */
export interface PlacedChange extends Change {
  drive: string;
}

/**
 * Evaluates the header `If` on the resources that it names. Returns what its tokens allow.
 *
 * @throws {DavError} 412 if none of its lists holds.
 */
export async function holderOf(
  call: DavCall,
  deps: DavDeps,
  resource: Resource,
): Promise<Holder> {
  const header = call.request.headers.get("if");
  if (header === null) return { by: call.by, tokens: new Set() };
  const lists = parseIf(header);
  const locksOf = locksByDrive(call, deps);
  for (const { tag, conditions } of lists) {
    const target = tag === undefined ? resource : await taggedResource(call, deps, tag);
    const state = target && await stateOf(target, locksOf);
    if (conditions.every((condition) => holds(condition, state))) {
      return { by: call.by, tokens: tokensIn(lists) };
    }
  }
  throw davErrors.ifFailed();
}

/** What conditions are compared with. */
interface State {
  etag: string | undefined;
  tokens: ReadonlySet<string>;
}

/** Reads the locks of a drive. */
type LocksOf = (drive: string) => Promise<DriveLocks>;

/** Reads the locks of each drive once: a header `If` may have a hundred lists. */
function locksByDrive({ project }: DavCall, { store }: DavDeps): LocksOf {
  const known = new Map<string, ReturnType<LocksOf>>();
  return (drive) => {
    const locks = known.get(drive) ?? store.locks.read({ project, drive });
    known.set(drive, locks);
    return locks;
  };
}

async function stateOf(resource: Resource, locksOf: LocksOf): Promise<State> {
  if (!("place" in resource)) return { etag: undefined, tokens: new Set() };
  const { drive, name } = resource.place;
  const { locks } = await locksOf(drive);
  const covering = locks.filter((lock) => covers(lock, name));
  return {
    etag: resource.kind === "file" ? resource.record.version : undefined,
    tokens: new Set(covering.map(({ token }) => token)),
  };
}

/** A resource of another server has no state here, so only negated conditions hold. */
function holds({ isNegated, token, etag }: Condition, state: State | undefined): boolean {
  const isTrue = token === undefined
    ? etag !== undefined && state?.etag === etag
    : state?.tokens.has(token) ?? false;
  return isTrue !== isNegated;
}

async function taggedResource(
  call: DavCall,
  deps: DavDeps,
  tag: string,
): Promise<Resource | undefined> {
  const path = pathOfUrl(call, deps, tag);
  if (path === undefined || path.project !== call.project) return undefined;
  return await findResource(call, deps, path);
}

/**
 * Returns the path of a URL of this server, or of an absolute path; `undefined` for another one.
 *
 * @throws {DavError} 400 if it has no valid path.
 */
export function pathOfUrl(
  { request: { headers }, origin }: DavCall,
  { share: { publicUrl }, basePath }: DavDeps,
  text: string,
): DavPath | undefined {
  const isPath = text.startsWith("/");
  // HTTP/1.0 allows requests without Host.
  if (!isPath && !isOwnHost(text, [`http://${headers.get("host")}`, origin(), publicUrl])) {
    return undefined;
  }
  const url = isPath ? `http://localhost${text}` : text;
  const { segments } = parseTarget({ url }, basePath);
  return segments[0] === DAV ? parsePath(segments) : undefined;
}

/** The scheme is not compared: a proxy may have changed it. */
function isOwnHost(url: string, own: readonly (string | undefined)[]): boolean {
  const host = hostOf(url);
  return host !== undefined && own.some((each) => each !== undefined && hostOf(each) === host);
}

/** The host and the port of a URL, without the usual port of either scheme; `undefined` if it has none. */
function hostOf(url: string): string | undefined {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return undefined;
  return new URL(url).host.replace(/:(?:80|443)$/, "");
}

/**
 * Requires the tokens of all locks on what changes. Returns what must be unchanged when the changes are committed.
 *
 * @throws {DavError} 423 if the token of a lock is missing.
 */
export async function requireUnlocked(
  call: DavCall,
  deps: DavDeps,
  holder: Holder,
  changes: readonly PlacedChange[],
): Promise<readonly SharedCheck[]> {
  const locksOf = locksByDrive(call, deps);
  const missing: string[] = [];
  const checks: SharedCheck[] = [];
  for (const change of changes) {
    const { locks, unchanged } = await locksOf(change.drive);
    missing.push(...pathsOfMissing(call, deps, holder, locks, change));
    checks.push(...unchanged);
  }
  if (missing.length > 0) throw davErrors.locked([...new Set(missing)]);
  return checks;
}

/** Returns what requires the tokens of all locks for each attempt to commit: a lock may have been made in between. */
export function guardOf(
  call: DavCall,
  deps: DavDeps,
  holder: Holder,
  changes: readonly PlacedChange[],
): WriteGuard {
  const { project } = call;
  const drives = new Set(changes.map(({ drive }) => drive));
  let attempts = 0;
  return async () => {
    if (attempts++ > 0) {
      for (const drive of drives) await deps.store.locks.betweenChanges({ project, drive });
    }
    return await requireUnlocked(call, deps, holder, changes);
  };
}

/** Returns the guard of a change of one file in each of these places. */
export function guardOfMembers(
  call: DavCall,
  deps: DavDeps,
  holder: Holder,
): (...places: Place[]) => WriteGuard {
  return (...places) => {
    const changes = places.map(({ drive, name }) => ({ drive, name, ...MEMBER }));
    return guardOf(call, deps, holder, changes);
  };
}

const MEMBER = { changesFolder: true, isDeep: false };

/**
 * Requires the same for one change in a drive whose locks were read.
 *
 * @throws {DavError} 423
 */
export function requireTokens(
  call: DavCall,
  deps: DavDeps,
  holder: Holder,
  locks: readonly LockRecord[],
  change: PlacedChange,
): void {
  const missing = pathsOfMissing(call, deps, holder, locks, change);
  if (missing.length > 0) throw davErrors.locked(missing);
}

/** The paths of the locks whose tokens are missing for a change. */
function pathsOfMissing(
  { project }: DavCall,
  { basePath }: DavDeps,
  holder: Holder,
  locks: readonly LockRecord[],
  change: PlacedChange,
): string[] {
  const { drive } = change;
  const paths = missingFor(locks, change, holder)
    .map(({ name }) => hrefOf(basePath, project, drive, name));
  return [...new Set(paths)];
}

/** Ends the locks on a name, and on all below it, that is gone. */
export async function endLocks({ store }: DavDeps, { project, drive, name }: Place): Promise<void> {
  const concerns = (locks: readonly LockRecord[]) =>
    withoutBelow(locks, name).length < locks.length;
  if (!concerns((await store.locks.read({ project, drive })).locks)) return;
  await store.locks.change({ project, drive }, (locks) => ({
    ...(concerns(locks) ? { locks: withoutBelow(locks, name) } : {}),
    result: undefined,
  }));
}
