import { ENTRY_MEMORY, visiblePage } from "../../api/files/list_files.ts";
import { sendBounded } from "../../http/responses/bounded_body.ts";
import { HttpResponse, ResponseHeaders } from "../../http/responses/http_response.ts";
import { PieceStream, READER_PATIENCE } from "../../http/responses/response_stream.ts";
import type { Listed, ListPage } from "../../store/listing/listing.ts";
import type { XmlNode } from "../../xml/xml_reader.ts";
import { type DavCall, davChildren, type DavDeps, readDocument } from "../dav_call.ts";
import { DavError, davErrors } from "../dav_error.ts";
import { encodeSegment, hasPath, hrefOf, lastSegment } from "../dav_path.ts";
import { covers } from "../locks/lock_rules.ts";
import type { Entry, PlacedLock, Quota } from "../properties/live_properties.ts";
import {
  MULTISTATUS_END,
  MULTISTATUS_START,
  type PropertyQuery,
  PropertyWriter,
} from "../properties/multistatus.ts";
import {
  findResource,
  type Folder,
  hrefOfResource,
  requireVisible,
  type Resource,
} from "../resource.ts";

const encoder = new TextEncoder();

/** The length of a piece of a response, in characters, from which on it is sent. */
const PIECE = 256 * 1024;

/** Names of a folder that are read at a time. */
const PAGE = 250;

/** Memory that is reserved for a list, in bytes: a page, a piece that is sent, and the next one. */
const LIST_MEMORY = PAGE * ENTRY_MEMORY + 2 * PIECE;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * `PROPFIND`: properties of a file, or of a folder and what is in it. A folder is read while the client takes what was
 * read before, so the memory for a response does not grow with the folder, nor with the properties that are asked for.
 */
export async function propfind(call: DavCall, deps: DavDeps): Promise<Response> {
  const depth = depthOf(call);
  const query = queryOf(await readDocument(call, deps, "propfind"));
  const resource = await findResource(call, deps, call.path);
  requireVisible(call, resource);
  if (resource.kind === "absent") throw davErrors.notFound();
  const isListed = depth === 1 && resource.kind !== "file";
  const memory = await deps.store.memory.json.reserve(call.project, isListed ? LIST_MEMORY : 0);
  try {
    const headers = headersFor(call, deps, resource);
    const view = await View.open(call, deps, resource, new PropertyWriter(query));
    const pieces = view.pieces(isListed);
    const [first, second] = [await pieces.next(), await pieces.next()];
    if (first.done) throw new TypeError("A response has a piece at least");
    if (second.done) {
      const { byteLength } = first.value;
      headers.set("Content-Length", String(byteLength));
      const body = sendBounded({ bytes: first.value, memory }, call, deps);
      return new HttpResponse(body, { status: 207, headers });
    }
    const stream = new PieceStream(join([first.value, second.value], pieces), {
      idle: deps.idleTimeout * READER_PATIENCE,
      onEnd: () => memory[Symbol.dispose](),
      onError: (error) => deps.onError(error, call.requestId),
      context: call.context,
    });
    return new HttpResponse(stream, { status: 207, headers });
  } catch (error) {
    memory[Symbol.dispose]();
    throw error;
  }
}

/** "It should return a Content-Location header" with the path that ends with a slash (RFC 4918, 5.2). */
function headersFor(call: DavCall, deps: DavDeps, resource: Resource): ResponseHeaders {
  const headers = new ResponseHeaders({ "Content-Type": "application/xml; charset=utf-8" });
  if (resource.kind !== "file" && !call.path.isFolder) {
    headers.set("Content-Location", hrefOfResource(call, deps, resource));
  }
  return headers;
}

async function* join(first: readonly Bytes[], rest: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  yield* first;
  yield* rest;
}

/** `Depth`. Some clients leave it out when they list, although that would be everything below. */
function depthOf({ request: { headers } }: DavCall): 0 | 1 {
  const depth = headers.get("depth")?.trim().toLowerCase() ?? "1";
  if (depth === "0" || depth === "1") return depth === "0" ? 0 : 1;
  if (depth !== "infinity") throw davErrors.badHeader("Depth", depth, "0 or 1");
  throw new DavError(
    403,
    "The header Depth is infinity: list one folder at a time, with 1",
    "<D:propfind-finite-depth/>",
  );
}

/** "A client may choose not to submit a request body" (RFC 4918, 9.1): that asks for all properties. */
function queryOf(document: XmlNode | undefined): PropertyQuery {
  if (document === undefined) return { kind: "all", further: [] };
  const has = (name: string) => davChildren(document, name);
  const [some, ...others] = has("prop");
  const [all] = has("allprop");
  const [names] = has("propname");
  if (others.length > 0 || [some, all, names].filter((one) => one !== undefined).length !== 1) {
    throw davErrors.badXml("asks not for exactly one of prop, allprop and propname");
  }
  if (some !== undefined) return { kind: "some", names: some.children };
  if (names !== undefined) return { kind: "names" };
  return { kind: "all", further: has("include").flatMap(({ children }) => children) };
}

/** The entries of one request. */
class View {
  private constructor(
    private readonly call: DavCall,
    private readonly deps: DavDeps,
    private readonly resource: Resource,
    private readonly writer: PropertyWriter,
    private readonly locks: readonly PlacedLock[],
    private readonly quota: Quota | undefined,
  ) {}

  /** Reads what all entries need. */
  static async open(
    call: DavCall,
    deps: DavDeps,
    resource: Resource,
    writer: PropertyWriter,
  ): Promise<View> {
    const { project } = call;
    const drive = "place" in resource ? resource.place.drive : undefined;
    const locks = drive === undefined || !writer.wants("lockdiscovery")
      ? []
      : (await deps.store.locks.read({ project, drive })).locks
        .map((lock) => ({ ...lock, href: hrefOf(deps.basePath, project, drive, lock.name) }));
    const quota = resource.kind === "file" ? undefined : await quotaOf(call, deps, writer);
    return new View(call, deps, resource, writer, locks, quota);
  }

  /** Yields the response, with what is in the folder if it is listed. */
  async *pieces(isListed: boolean): AsyncGenerator<Bytes, void> {
    let text = MULTISTATUS_START + this.writer.response(await this.#own());
    const pages = isListed ? this.#pages() : [];
    for await (const page of pages) {
      for (const entry of page) {
        text += this.writer.response(entry);
        if (text.length < PIECE) continue;
        yield encoder.encode(text);
        text = "";
      }
    }
    yield encoder.encode(`${text}${MULTISTATUS_END}`);
  }

  /** The resource itself. */
  async #own(): Promise<Entry> {
    const { call: { project, path }, deps: { basePath, store }, resource, quota } = this;
    if (!("place" in resource)) {
      return { href: hrefOf(basePath, path.project), label: path.project, quota };
    }
    const { place, kind } = resource;
    const { drive, name } = place;
    const isMarked = kind === "folder" && name !== "";
    return {
      href: hrefOf(basePath, project, drive, name),
      label: name === "" ? drive : lastSegment(name),
      record: kind === "file" ? resource.record : undefined,
      created: isMarked ? (await store.folders.get(place))?.created : undefined,
      locks: this.#locksOn(name),
      quota,
    };
  }

  /** Yields what is in the folder, page by page. */
  #pages(): AsyncIterable<Iterable<Entry>> | Iterable<Entry[]> {
    const { resource, call: { project }, deps: { basePath }, quota } = this;
    if (resource.kind === "folder") return this.#names(resource);
    if (resource.kind === "project") return this.#drives();
    return [[{ href: hrefOf(basePath, project), label: project, quota }]];
  }

  async *#drives(): AsyncGenerator<Entry[]> {
    const { call: { project, rights: { drives: among } }, deps: { basePath, store }, quota } = this;
    for (let last: string | undefined = ""; last !== undefined;) {
      const { drives, more } = await store.listDrives({
        project,
        prefix: "",
        last,
        limit: PAGE,
        among,
      });
      last = more ? drives.at(-1)?.name : undefined;
      const named = drives.filter(({ name }) => hasPath(name));
      yield named.map(({ name }) => ({
        href: hrefOf(basePath, project, name),
        label: name,
        quota,
      }));
    }
  }

  async *#names(
    { place: { project, drive, name: prefix } }: Folder,
  ): AsyncGenerator<Iterable<Entry>> {
    const base = hrefOf(this.deps.basePath, project, drive, prefix);
    for (let last: string | undefined = ""; last !== undefined;) {
      const query = { project, drive, prefix, last, limit: PAGE };
      const page: ListPage = await visiblePage(this.call, this.deps, query, false);
      last = page.more ? page.last ?? page.entries.at(-1)?.name : undefined;
      yield this.#entries(page.entries, base, prefix);
    }
  }

  *#entries(listed: readonly Listed[], base: string, prefix: string): Generator<Entry> {
    for (const { name, record } of listed) {
      const segment = name.slice(prefix.length);
      if (!hasPath(segment)) continue;
      const label = record === undefined ? segment.slice(0, -1) : segment;
      const href = `${base}${encodeSegment(label)}${record === undefined ? "/" : ""}`;
      yield { href, label, record, locks: this.#locksOn(name), quota: this.quota };
    }
  }

  #locksOn(name: string): readonly PlacedLock[] {
    if (this.locks.length === 0) return this.locks;
    return this.locks.filter((lock) => covers(lock, name));
  }
}

/** The use of the project. A key that is limited to some names must not learn about the others. */
async function quotaOf(
  { project, rights }: DavCall,
  { store }: DavDeps,
  writer: PropertyWriter,
): Promise<Quota | undefined> {
  if (!writer.wants("quota-available-bytes") && !writer.wants("quota-used-bytes")) return undefined;
  if (!rights.isForWholeProject) return undefined;
  const [{ bytes, trashBytes, openBytes }, info] = await Promise.all([
    store.usageOf(project),
    store.projects.get(project),
  ]);
  const used = bytes + trashBytes + openBytes;
  const max = info?.maxBytes;
  return { used, available: max === undefined ? undefined : Math.max(0, max - used) };
}
