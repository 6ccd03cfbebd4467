/**
 * Reads the XML of requests. `saxes` checks that it is well-formed; document types, and with them all entities but the
 * predefined ones, are refused, and depth and size are limited.
 *
 * @module
 */
import { SaxesParser } from "saxes";

/** The deepest nesting of a request: `<Delete><Object><Key>` has three levels. */
const MAX_DEPTH = 8;

/** An element of a request: its text, and its children in their order. Namespaces are ignored. */
export interface XmlNode {
  name: string;
  text: string;
  children: XmlNode[];
}

/** The text is not the XML that was expected. The message is the end of a sentence. */
export class BadXml extends Error {
  override readonly name = "BadXml";
}

/**
 * Reads a document.
 *
 * @param root The name of its root.
 * @param maxElements The most elements and attributes that it may have.
 * @throws {BadXml}
 */
export function readXml(text: string, root: string, maxElements: number): XmlNode {
  const parser = new SaxesParser();
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
  parser.on("opentag", ({ name }) => {
    const node = { name: name.slice(name.indexOf(":") + 1), text: "", children: [] };
    count();
    if (open.length >= MAX_DEPTH) throw new BadXml(`is nested deeper than ${MAX_DEPTH} levels`);
    open.at(-1)?.children.push(node);
    document ??= node;
    open.push(node);
  });
  // The parser compares each with those before it.
  parser.on("attribute", count);
  const addText = (more: string) => {
    const node = open.at(-1);
    if (node !== undefined) node.text += more;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => void open.pop());
  parser.write(text).close();
  if (document?.name !== root) throw new BadXml(`has not the root element ${root}`);
  return document;
}

/** Returns the text of the only child with a name; `undefined` without one. @throws {BadXml} if there are several. */
export function childText({ name: parent, children }: XmlNode, name: string): string | undefined {
  const found = children.filter((child) => child.name === name);
  if (found.length > 1) throw new BadXml(`has ${found.length} elements ${name} in ${parent}`);
  return found[0]?.text;
}

/** Returns the children with a name. */
export function childrenNamed({ children }: XmlNode, name: string): XmlNode[] {
  return children.filter((child) => child.name === name);
}
