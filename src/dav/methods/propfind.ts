import { ENTRY_MEMORY, visiblePage } from "../../api/files/list_files.ts";
import { buildBounded, sendBounded } from "../../http/responses/bounded_body.ts";
import { HttpResponse } from "../../http/responses/http_response.ts";
import { PieceStream, READER_PATIENCE } from "../../http/responses/response_stream.ts";
import { MAX_LIST } from "../../rules/names.ts";
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
import { findResource, type Folder, requireVisible, type Resource } from "../resource.ts";

const encoder = new TextEncoder();

/**
 * `PROPFIND`: properties of a file, or of a folder and what is in it. A folder is read page by page while the client takes
 * them, so a large one takes no more memory than a page.
 */
export async function propfind(call: DavCall, deps: DavDeps): Promise<Response> {
  const depth = depthOf(call);
  const query = queryOf(await readDocument(call, deps, "propfind"));
  const resource = await findResource(call, deps, call.path);
  requireVisible(call, resource);
  if (resource.kind === "absent") throw davErrors.notFound();
  const view = await View.open(call, deps, resource, new PropertyWriter(query));
  const own = await view.own();
  const isListed = depth === 1 && resource.kind !== "file";
  const estimate = (isListed ? MAX_LIST : 1) * ENTRY_MEMORY;
  let rest: Page | undefined;
  const body = await buildBounded(call, deps, { estimate, isRepeatable: true }, async () => {
    const page = isListed ? await view.page("") : undefined;
    rest = page?.next === undefined ? undefined : page;
    const end = rest === undefined ? MULTISTATUS_END : "";
    return encoder.encode(`${MULTISTATUS_START}${own}${page?.text ?? ""}${end}`);
  });
  const headers = { "Content-Type": "application/xml; charset=utf-8" };
  if (rest?.next === undefined) {
    const length = String(body.bytes.byteLength);
    return new HttpResponse(sendBounded(body, call, deps), {
      status: 207,
      headers: { ...headers, "Content-Length": length },
    });
  }
  const { bytes, memory } = body;
  const { onError, idleTimeout } = deps;
  const stream = new PieceStream(view.pieces(bytes, rest.next), {
    idle: idleTimeout * READER_PATIENCE,
    onEnd: () => memory[Symbol.dispose](),
    onError: (error) => onError(error, call.requestId),
    context: call.context,
  });
  return new HttpResponse(stream, { status: 207, headers });
}

/** The responses of a page of a folder, and the name after which the next one begins. */
interface Page {
  text: string;
  next?: string;
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
      : (await deps.store.locks.list({ project, drive }))
        .map((lock) => ({ ...lock, href: hrefOf(deps.basePath, project, drive, lock.name) }));
    return new View(call, deps, resource, writer, locks);
  }

  /** Returns the response for the resource itself. */
  async own(): Promise<string> {
    const { call: { project, path }, resource, writer } = this;
    const quota = resource.kind === "file" ? undefined : await this.#quota();
    if (!("place" in resource)) {
      return writer.response({
        href: hrefOf(this.deps.basePath, path.project),
        label: path.project,
        quota,
      });
    }
    const { drive, name } = resource.place;
    const record = resource.kind === "file" ? resource.record : undefined;
    const created = resource.kind === "folder" ? await this.#createdOf(name) : undefined;
    return writer.response({
      href: hrefOf(this.deps.basePath, project, drive, name),
      label: name === "" ? drive : lastSegment(name),
      record,
      created,
      locks: this.#locksOn(name),
      quota,
    });
  }

  /** Returns a page of what is in the folder, after a name. */
  async page(after: string): Promise<Page> {
    const { resource } = this;
    if (resource.kind === "root") return { text: await this.#projects() };
    if (resource.kind === "project") return await this.#drives(after);
    if (resource.kind === "folder") return await this.#names(resource, after);
    return { text: "" };
  }

  /** Yields bytes, and then the pages after a name. */
  async *pieces(
    first: Uint8Array<ArrayBuffer>,
    after: string,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    yield first;
    for (let next: string | undefined = after; next !== undefined;) {
      const page: Page = await this.page(next);
      next = page.next;
      yield encoder.encode(next === undefined ? `${page.text}${MULTISTATUS_END}` : page.text);
    }
  }

  async #projects(): Promise<string> {
    const { project } = this.call;
    const quota = await this.#quota();
    return this.writer.response({
      href: hrefOf(this.deps.basePath, project),
      label: project,
      quota,
    });
  }

  async #drives(last: string): Promise<Page> {
    const { project, rights: { drives: among } } = this.call;
    const query = { project, prefix: "", last, limit: MAX_LIST, among };
    const { drives, more } = await this.deps.store.listDrives(query);
    const quota = await this.#quota();
    const texts = drives.filter(({ name }) => hasPath(name)).map(({ name }) =>
      this.writer.response({ href: hrefOf(this.deps.basePath, project, name), label: name, quota })
    );
    const next = more ? drives.at(-1)?.name : undefined;
    return { text: texts.join(""), ...(next === undefined ? {} : { next }) };
  }

  async #names({ place }: Folder, last: string): Promise<Page> {
    const { project, drive, name: prefix } = place;
    const query = { project, drive, prefix, last, limit: MAX_LIST };
    const page: ListPage = await visiblePage(this.call, this.deps, query, false);
    const base = hrefOf(this.deps.basePath, project, drive, prefix);
    const quota = await this.#quota();
    let text = "";
    for (const listed of page.entries) {
      const segment = listed.name.slice(prefix.length);
      if (hasPath(segment)) text += this.writer.response(this.#entry(listed, base, segment, quota));
    }
    const next = page.more ? page.last ?? page.entries.at(-1)?.name : undefined;
    return { text, ...(next === undefined ? {} : { next }) };
  }

  #entry(
    { name, record }: Listed,
    base: string,
    segment: string,
    quota: Quota | undefined,
  ): Entry {
    const label = record === undefined ? segment.slice(0, -1) : segment;
    const href = `${base}${encodeSegment(label)}${record === undefined ? "/" : ""}`;
    return { href, label, record, locks: this.#locksOn(name), quota };
  }

  #locksOn(name: string): readonly PlacedLock[] {
    if (this.locks.length === 0) return this.locks;
    return this.locks.filter((lock) => covers(lock, name));
  }

  async #createdOf(name: string): Promise<number | undefined> {
    if (!("place" in this.resource) || name === "") return undefined;
    return (await this.deps.store.folders.get(this.resource.place))?.created;
  }

  /** The use of the project. A key that is limited to some names must not learn about the others. */
  async #quota(): Promise<Quota | undefined> {
    const { call: { project, rights }, deps: { store }, writer } = this;
    if (!writer.wants("quota-available-bytes") && !writer.wants("quota-used-bytes")) {
      return undefined;
    }
    if (!rights.isForWholeProject) return undefined;
    const [{ bytes, trashBytes, openBytes }, info] = await Promise.all([
      store.usageOf(project),
      store.projects.get(project),
    ]);
    const used = bytes + trashBytes + openBytes;
    const max = info?.maxBytes;
    return { used, available: max === undefined ? undefined : Math.max(0, max - used) };
  }
}
