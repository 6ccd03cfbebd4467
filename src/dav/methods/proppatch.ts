import { parseHttpDate } from "../../rules/dates.ts";
import { byteLength } from "../../rules/names.ts";
import type { FileProperties, FileRecord } from "../../store/engine/records.ts";
import type { WriteGuard } from "../../store/files/file_record.ts";
import type { XmlNode } from "../../xml/xml_reader.ts";
import { escapeText } from "../../xml/xml_writer.ts";
import { type DavCall, davChildren, type DavDeps, readDocument } from "../dav_call.ts";
import { davErrors } from "../dav_error.ts";
import { hrefOf } from "../dav_path.ts";
import { guardOf, holderOf } from "../locks/guard.ts";
import {
  LIVE_PROPERTIES,
  WINDOWS_MTIME,
  WINDOWS_NAMESPACE,
} from "../properties/live_properties.ts";
import { propstat } from "../properties/multistatus.ts";
import { emptyElement, idOf, serialize } from "../properties/property_name.ts";
import { findResource, type Resource } from "../resource.ts";
import { multistatus } from "../responses.ts";

/** The properties that clients may keep with a file, in bytes, their names included. */
const MAX_PROPERTIES = 4096;

/** One instruction: a property, and its element unless it is removed. */
interface Instruction {
  id: string;
  empty: string;
  element?: XmlNode;
}

/** Why a property cannot be changed. */
interface Problem {
  status: number;
  condition: string;
}

/** `PROPPATCH`: changes properties, all of them or none. */
export async function proppatch(call: DavCall, deps: DavDeps): Promise<Response> {
  const document = await readDocument(call, deps, "propertyupdate");
  if (document === undefined) throw davErrors.badXml("is missing");
  const instructions = instructionsIn(document);
  const resource = await findResource(call, deps, call.path);
  if (!("place" in resource)) throw davErrors.forbidden("This folder has no properties of clients");
  const { drive, name } = resource.place;
  call.rights.requireName(name);
  if (resource.kind === "absent") throw davErrors.notFound();
  const holder = await holderOf(call, deps, resource);
  const change = { drive, name, changesFolder: false, isDeep: false };
  const guard = guardOf(call, deps, holder, [change]);
  await guard();
  const href = hrefOf(deps.basePath, call.project, drive, name);
  const problems = instructions.map((one) => problemOf(one, resource));
  const isTooLarge = problems.every((problem) => problem === undefined) &&
    resource.kind === "file" && !await apply(deps, resource, instructions, guard);
  return response(href, instructions, isTooLarge ? instructions.map(() => TOO_LARGE) : problems);
}

const PROTECTED: Problem = {
  status: 403,
  condition: "<D:error><D:cannot-modify-protected-property/></D:error>",
};
const NO_DATE: Problem = { status: 409, condition: "" };
const TOO_LARGE: Problem = { status: 507, condition: "" };
/** "failed because it depended on another action and that action failed" (RFC 4918, 11.4). */
const NOT_TRIED: Problem = { status: 424, condition: "" };

/** @throws {DavError} 400 if it is not a document with instructions. */
function instructionsIn(document: XmlNode): Instruction[] {
  const instructions = document.children.flatMap((child) => {
    const isRemoval = child.name === "remove";
    if (child.namespace !== "DAV:" || !isRemoval && child.name !== "set") return [];
    const elements = davChildren(child, "prop").flatMap(({ children }) => children);
    return elements.map((element): Instruction => ({
      id: idOf(element),
      empty: emptyElement(element),
      ...(isRemoval ? {} : { element }),
    }));
  });
  if (instructions.length === 0) throw davErrors.badXml("has no property to set or to remove");
  return instructions;
}

function problemOf({ id, element }: Instruction, resource: Resource): Problem | undefined {
  if (resource.kind !== "file") {
    // Folders keep no properties. Windows would not copy a folder if it could not set the times.
    return id.startsWith(`{${WINDOWS_NAMESPACE}}`) ? undefined : { status: 403, condition: "" };
  }
  if (id === WINDOWS_MTIME) {
    return element !== undefined && mtimeOf(element) === undefined ? NO_DATE : undefined;
  }
  return LIVE_PROPERTIES.has(id) ? PROTECTED : undefined;
}

/** Returns a time in milliseconds since 1970. */
function mtimeOf({ text }: XmlNode): number | undefined {
  const seconds = parseHttpDate(text.trim());
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Changes the properties of a file. Returns whether it may have as many. */
async function apply(
  { store }: DavDeps,
  { place }: Extract<Resource, { kind: "file" }>,
  instructions: readonly Instruction[],
  guard: WriteGuard,
): Promise<boolean> {
  let isTooLarge = false;
  const describe = ({ mtime, properties }: FileRecord) => {
    const kept = new Map(Object.entries(properties ?? {}));
    let time = mtime;
    for (const { id, element } of instructions) {
      if (id === WINDOWS_MTIME) time = element && mtimeOf(element);
      else if (element === undefined) kept.delete(id);
      else kept.set(id, serialize(element));
    }
    isTooLarge = sizeOf(kept) > MAX_PROPERTIES;
    if (isTooLarge) return { mtime, properties };
    const changed: FileProperties = Object.fromEntries(kept);
    return { mtime: time, properties: kept.size === 0 ? undefined : changed };
  };
  const changed = await store.changeFile(place, { describe }, () => true, guard);
  if (changed === "absent") throw davErrors.notFound();
  return !isTooLarge;
}

function sizeOf(properties: ReadonlyMap<string, string>): number {
  return [...properties].reduce((sum, pair) => sum + byteLength(pair.join("")), 0);
}

/** The response: each property with its status. If one has a problem, the others were not changed either. */
function response(
  href: string,
  instructions: readonly Instruction[],
  problems: readonly (Problem | undefined)[],
): Response {
  const hasFailed = problems.some((problem) => problem !== undefined);
  const outcomes = instructions.map(({ empty }, index) => {
    const problem = problems[index] ?? (hasFailed ? NOT_TRIED : undefined);
    return propstat(problem?.status ?? 200, empty, problem?.condition);
  });
  return multistatus(
    `<D:response><D:href>${escapeText(href)}</D:href>${outcomes.join("")}</D:response>`,
  );
}
