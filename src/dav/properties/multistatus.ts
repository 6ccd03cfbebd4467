import { escapeText } from "../../xml/xml_writer.ts";
import { statusLine } from "../dav_error.ts";
import { type Entry, LIVE_PROPERTIES, type LiveProperty } from "./live_properties.ts";
import { DAV_NAMESPACE, emptyElement, idOf, nameOfId, type PropertyName } from "./property_name.ts";

export const MULTISTATUS_START =
  '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">';
export const MULTISTATUS_END = "</D:multistatus>";

/** Which properties a request asks for. */
export type PropertyQuery =
  | { kind: "all"; further: readonly PropertyName[] }
  | { kind: "names" }
  | { kind: "some"; names: readonly PropertyName[] };

/** A property that is asked for. */
interface Wanted {
  id: string;
  /** Its element without content. */
  empty: string;
  live: LiveProperty | undefined;
  opening: string;
  closing: string;
}

/** Writes the properties of entries. */
export class PropertyWriter {
  readonly #wanted: readonly Wanted[];
  readonly #ids: ReadonlySet<string>;

  constructor(private readonly query: PropertyQuery) {
    this.#wanted = wantedBy(query);
    this.#ids = new Set(this.#wanted.map(({ id }) => id));
  }

  /** Returns whether a property is looked up for each entry. */
  wants(name: string): boolean {
    return this.query.kind !== "names" && this.#ids.has(idOf({ namespace: DAV_NAMESPACE, name }));
  }

  /** Returns the element `response` of an entry. */
  response(entry: Entry): string {
    const { kind } = this.query;
    let found = "";
    let missing = "";
    for (const { id, empty, live, opening, closing } of this.#wanted) {
      const content = live?.of(entry);
      const stored = live === undefined ? entry.record?.properties?.[id] : undefined;
      if (stored !== undefined) found += kind === "names" ? empty : stored;
      else if (content === undefined) missing += empty;
      else if (content === "" || kind === "names") found += empty;
      else found += `${opening}${content}${closing}`;
    }
    if (kind !== "some") found += this.#stored(entry);
    const href = `<D:response><D:href>${escapeText(entry.href)}</D:href>`;
    const isMissing = missing !== "" && kind === "some";
    return href + (found !== "" || !isMissing ? propstat(200, found) : "") +
      (isMissing ? propstat(404, missing) : "") + "</D:response>";
  }

  /** The properties that clients keep with a file. */
  #stored({ record }: Entry): string {
    let text = "";
    for (const [id, element] of Object.entries(record?.properties ?? {})) {
      if (!this.#ids.has(id)) {
        text += this.query.kind === "names" ? emptyElement(nameOfId(id)) : element;
      }
    }
    return text;
  }
}

function wantedBy(query: PropertyQuery): Wanted[] {
  const inAll = [...LIVE_PROPERTIES].filter(([, { inAll }]) => inAll).map(([id]) => nameOfId(id));
  const names = {
    all: () => query.kind === "all" ? [...inAll, ...query.further] : [],
    names: () => inAll,
    some: () => query.kind === "some" ? query.names : [],
  }[query.kind]();
  const byId = new Map(names.map((name) => [idOf(name), name]));
  return [...byId].map(([id, name]) => {
    const live = LIVE_PROPERTIES.get(id);
    const empty = emptyElement(name);
    const opening = `${empty.slice(0, -2)}>`;
    const prefix = name.namespace === DAV_NAMESPACE ? "D:" : name.namespace === "" ? "" : "x:";
    return { id, empty, live, opening, closing: `</${prefix}${name.name}>` };
  });
}

/** @param properties Their elements. */
export function propstat(status: number, properties: string, condition = ""): string {
  return `<D:propstat><D:prop>${properties}</D:prop>` +
    `<D:status>${statusLine(status)}</D:status>${condition}</D:propstat>`;
}

/** Returns the element of a member of a folder for which a request failed. */
export function memberFailure(href: string, status: number, condition: string): string {
  const error = condition === "" ? "" : `<D:error>${condition}</D:error>`;
  return `<D:response><D:href>${escapeText(href)}</D:href>` +
    `<D:status>${statusLine(status)}</D:status>${error}</D:response>`;
}
