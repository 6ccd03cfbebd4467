/**
 * Reads the XML of requests. `saxes` checks that it is well-formed; document types, and with them all entities but the
 * predefined ones, are refused, and depth and size are limited.
 *
 * @module
 */
import { SaxesParser } from "saxes";

/** The deepest nesting of a request. Structured values of WebDAV properties are the deepest that clients send. */
const MAX_DEPTH = 16;

/** An attribute, without the declarations of namespaces. */
export interface XmlAttribute {
  namespace: string;
  name: string;
  value: string;
}

/** An element of a request. */
export class XmlNode {
  /** Its texts and children in their order. */
  readonly content: (XmlNode | string)[] = [];

  /**
   * @param name Without its prefix.
   * @param namespace Empty without one.
   */
  constructor(
    readonly name: string,
    readonly namespace: string,
    readonly attributes: readonly XmlAttribute[],
  ) {}

  get text(): string {
    return this.content.filter((item) => typeof item === "string").join("");
  }

  get children(): XmlNode[] {
    return this.content.filter((item) => item instanceof XmlNode);
  }
}

/** The text is not the XML that was expected. The message is the end of a sentence. */
export class BadXml extends Error {
  override readonly name = "BadXml";
}

/** The namespace of the declarations of namespaces themselves. */
const DECLARATIONS = "http://www.w3.org/2000/xmlns/";

/** The namespace of `xml:lang`. Only its own prefix may be bound to it, so what is written with another is no XML. */
export const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

/**
 * Reads a document.
 *
 * @param root The name of its root, in any namespace.
 * @param maxElements The most elements and attributes that it may have.
 * @throws {BadXml}
 */
export function readXml(text: string, root: string, maxElements: number): XmlNode {
  const parser = new SaxesParser({ xmlns: true });
  const open: XmlNode[] = [];
  let elements = 0;
  const count = () => {
    if (++elements > maxElements) throw new BadXml(`has more than ${maxElements} elements`);
  };
  let document: XmlNode | undefined;
  parser.on("error", ({ message }) => {
    throw new BadXml(`is not well-formed XML: ${message}`);
  });
  parser.on("doctype", () => {
    throw new BadXml("has a document type, which is not allowed");
  });
  parser.on("opentag", ({ local, uri, attributes }) => {
    const node = new XmlNode(local, uri, attributesOf(attributes));
    count();
    if (uri === XML_NAMESPACE) throw new BadXml("has an element in the reserved namespace of XML");
    if (open.length >= MAX_DEPTH) throw new BadXml(`is nested deeper than ${MAX_DEPTH} levels`);
    open.at(-1)?.content.push(node);
    document ??= node;
    open.push(node);
  });
  // The parser compares each with those before it.
  parser.on("attribute", count);
  const addText = (more: string) => void open.at(-1)?.content.push(more);
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => void open.pop());
  parser.write(text).close();
  if (document?.name !== root) throw new BadXml(`has not the root element ${root}`);
  return document;
}

/** The attributes of an element as the parser has them. */
type ParsedAttributes = Readonly<Record<string, { local: string; uri: string; value: string }>>;

function attributesOf(attributes: ParsedAttributes): XmlAttribute[] {
  return Object.values(attributes)
    .filter(({ uri }) => uri !== DECLARATIONS)
    .map(({ local, uri, value }) => ({ namespace: uri, name: local, value }));
}

/** Returns the text of the only child with a name; `undefined` without one. @throws {BadXml} if there are several. */
export function childText({ name: parent, children }: XmlNode, name: string): string | undefined {
  const found = children.filter((child) => child.name === name);
  if (found.length > 1) throw new BadXml(`has ${found.length} elements ${name} in ${parent}`);
  return found[0]?.text;
}

export function childrenNamed({ children }: XmlNode, name: string): XmlNode[] {
  return children.filter((child) => child.name === name);
}
