import { concat } from "@std/bytes/concat";
import type { Deps } from "../api/endpoint.ts";
import { type Caller, keyRefusal, reauthenticate } from "../http/authentication.ts";
import { hasBody, readBody } from "../http/body.ts";
import { errors, HttpError } from "../http/http_error.ts";
import { basicPassword } from "../http/network/request_secrets.ts";
import { clientAddress, isLoopback, requestOrigin } from "../http/network/client_address.ts";
import type { RequestContext } from "../http/request_context.ts";
import type { Rights } from "../rules/rights.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import type { Actor } from "../store/accounts/events.ts";
import { BadXml, readXml, type XmlNode } from "../xml/xml_reader.ts";
import { davErrors } from "./dav_error.ts";
import type { DavPath } from "./dav_path.ts";

/** What WebDAV needs from the program. */
export interface DavDeps extends Deps {
  webdav: DavOptions;
}

export interface DavOptions {
  /** Whether plain connections of other machines may send keys. */
  allowsPlain: boolean;
  /** Whether files that macOS writes beside others are refused. */
  refusesJunk: boolean;
}

/** A request as it arrived. */
export interface Incoming {
  request: Request;
  requestId: string;
  info: Deno.ServeHandlerInfo;
  context: RequestContext;
}

/** A request whose sender is authorized, and has the permissions of its method. */
export interface DavCall extends Incoming {
  /** That of the key; the one in the path is the same, or there is none. */
  project: string;
  path: DavPath;
  /** Limits drives and names, which each method checks. */
  rights: Rights;
  /** The beginning of the SHA-256 of the key, by which locks know who made them. */
  by: string;
  /** Returns the origin that the client used, such as `https://files.example.com`. */
  origin: () => string;
  /** Returns who makes a change, for the audit log. */
  actor: () => Actor;
  /**
   * Checks the key again. To be called right before a body is stored.
   *
   * @throws {HttpError} 401 if it was revoked or has expired since the request arrived.
   */
  reauthorize: () => Promise<void>;
}

/** Characters of a key's SHA-256 that locks keep: 64 bits. */
const HOLDER_LENGTH = 16;

/**
 * Authenticates the sender of a request by a project key as the password of HTTP Basic. Wrong keys are limited as those
 * of the drive API are.
 *
 * @throws {DavError} 401 without a key, 403 on a plain connection.
 * @throws {HttpError} 401 with a wrong key, 429 after too many, 403 with one of another project.
 */
export async function authorize(
  incoming: Incoming,
  path: DavPath,
  deps: DavDeps,
): Promise<DavCall> {
  const { request, info, context } = incoming;
  const { headers } = request;
  const { trustedProxies, wrongKeys, store, administrator } = deps;
  const origin = () => requestOrigin(request.url, headers, info.remoteAddr, trustedProxies);
  const address = () => clientAddress(info.remoteAddr, headers, trustedProxies);
  if (!deps.webdav.allowsPlain && origin().startsWith("http:") && !isLoopback(address())) {
    throw davErrors.plainConnection();
  }
  const key = basicPassword(headers);
  if (key === undefined) throw davErrors.missingKey();
  const hash = key.length > MAX_KEY_HEADER ? "" : hashSecret(key);
  const found = hash === "" ? undefined : await store.keys.find(hash);
  if (found === undefined) {
    const unknown = new HttpError(
      "unknown_key",
      "The password is not a known key: send a project key, with any user name",
    );
    throw keyRefusal(unknown, headers, { wrongKeys, address });
  }
  const { project, rights, prefix } = found;
  context.key = prefix;
  if (path.project !== "" && path.project !== project) throw errors.wrongProject();
  context.project = project;
  const caller: Caller = { isAdministrator: false, project, rights, hash };
  return {
    ...incoming,
    project,
    path,
    rights,
    by: hash.slice(0, HOLDER_LENGTH),
    origin,
    actor: () => ({ by: prefix, address: address() }),
    reauthorize: () => reauthenticate(caller, { administrator, store, context }),
  };
}

/** The largest XML of a request, in bytes. */
const MAX_XML = 64 * 1024;

/** The elements and attributes of a request's XML at most. */
const MAX_ELEMENTS = 2000;

/** The length of their names at most. A namespace that is declared once counts for each of them. */
const MAX_NAMES = 128 * 1024;

/**
 * Reads the body of a request as a document in the namespace `DAV:`; `undefined` without a body. Then checks the key a second
 * time: it may have been revoked while the body came.
 *
 * @param root The name of its root.
 * @throws {HttpError} 408 if it stops coming, 401 if the key was revoked.
 * @throws {DavError} 400 if it is another document, 413 if it is too large.
 */
export async function readDocument(
  { request, context, reauthorize }: DavCall,
  { idleTimeout: idle }: DavDeps,
  root: string,
): Promise<XmlNode | undefined> {
  const pieces: Uint8Array[] = [];
  const tooLarge = () => new HttpError("body_too_large", davErrors.tooLarge(MAX_XML).message);
  for await (const piece of readBody(request, { limit: MAX_XML, idle, tooLarge, context })) {
    pieces.push(piece);
  }
  const bytes = concat(pieces);
  if (bytes.byteLength === 0) return undefined;
  await reauthorize();
  try {
    const document = readXml(decode(bytes), root, MAX_ELEMENTS);
    if (document.namespace !== "DAV:") throw new BadXml(`has no root element ${root} of DAV:`);
    if (namesLength(document) > MAX_NAMES) throw new BadXml("has too many long namespaces");
    return document;
  } catch (error) {
    if (error instanceof BadXml) throw davErrors.badXml(error.message);
    throw error;
  }
}

/** The length of the names of a document, each with its namespace, as responses and stored properties have them. */
function namesLength({ name, namespace, attributes, children }: XmlNode): number {
  const named = [{ name, namespace }, ...attributes];
  const own = named.reduce((sum, each) => sum + each.name.length + each.namespace.length, 0);
  return children.reduce((sum, child) => sum + namesLength(child), own);
}

/** UTF-16 begins with its byte order mark (XML 1.0, 4.3.3). */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isUtf16 = first === 0xfe && second === 0xff || first === 0xff && second === 0xfe;
  const encoding = isUtf16 ? first === 0xfe ? "utf-16be" : "utf-16le" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new BadXml("is not in UTF-8 or UTF-16");
  }
}

/**
 * Refuses a body of a method that takes none. One of no bytes counts as none.
 *
 * @throws {DavError} 415
 */
export function refuseBody({ request }: DavCall): void {
  if (hasBody(request) && request.headers.get("content-length") !== "0") throw davErrors.hasBody();
}

/** The children of a document that are elements of `DAV:` with a name. */
export function davChildren({ children }: XmlNode, name: string): XmlNode[] {
  return children.filter((child) => child.name === name && child.namespace === "DAV:");
}
