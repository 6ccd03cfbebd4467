import { escapeText } from "../../xml/xml_writer.ts";
import { XML_NAMESPACE, type XmlAttribute, XmlNode } from "../../xml/xml_reader.ts";

export interface PropertyName {
  /** Empty without one. */
  namespace: string;
  name: string;
}

/** The namespace of the properties of RFC 4918. */
export const DAV_NAMESPACE = "DAV:";

/** Returns a text that only equal names have in common: `{namespace}name`. */
export function idOf({ namespace, name }: PropertyName): string {
  return `{${namespace}}${name}`;
}

/** Returns the name that `idOf` returned a text for. */
export function nameOfId(id: string): PropertyName {
  const end = id.lastIndexOf("}");
  return { namespace: id.slice(1, end), name: id.slice(end + 1) };
}

/** Returns an element without content, in a document that declares `D` only. */
export function emptyElement(name: PropertyName): string {
  return `<${tagOf(name)}/>`;
}

/** Returns the name of an element with the declaration of its prefix. */
function tagOf({ namespace, name }: PropertyName): string {
  if (namespace === DAV_NAMESPACE) return `D:${name}`;
  return namespace === "" ? name : `x:${name} xmlns:x="${escapeText(namespace)}"`;
}

/** Returns an element with its content. It declares its namespaces, so it can be put into any document. */
export function serialize(node: XmlNode): string {
  const { namespace, name, attributes, content } = node;
  const prefix = namespace === "" ? "" : "x:";
  const declared = namespace === "" ? "" : ` xmlns:x="${escapeText(namespace)}"`;
  const opening = `${prefix}${name}${declared}${attributes.map(attributeText).join("")}`;
  if (content.length === 0) return `<${opening}/>`;
  const inner = content.map((item) => item instanceof XmlNode ? serialize(item) : escapeText(item));
  return `<${opening}>${inner.join("")}</${prefix}${name}>`;
}

/** An attribute in the namespace of XML needs no declaration. */
function attributeText({ namespace, name, value }: XmlAttribute, index: number): string {
  const text = `="${escapeText(value)}"`;
  if (namespace === "") return ` ${name}${text}`;
  if (namespace === XML_NAMESPACE) return ` xml:${name}${text}`;
  return ` a${index}:${name}${text} xmlns:a${index}="${escapeText(namespace)}"`;
}
