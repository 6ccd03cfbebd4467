/** The content of an element: text, or elements in their order. */
export type XmlContent = string | number | boolean | readonly XmlElement[];

/** An element. The names and values of its attributes need no escapes. */
export type XmlElement = readonly [
  name: string,
  content: XmlContent,
  attributes?: Readonly<Record<string, string>>,
];

/** Returns a document in UTF-8. @param namespace Of the root; empty for none. */
export function writeXml([name, content]: XmlElement, namespace: string): string {
  const attributes: Record<string, string> = namespace === "" ? {} : { xmlns: namespace };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element([name, content, attributes])}`;
}

/** Returns an element as a list: empty if the content is `undefined`. */
export function optional(name: string, content: XmlContent | undefined): XmlElement[] {
  return content === undefined ? [] : [[name, content]];
}

function element([name, content, attributes]: XmlElement): string {
  let opening = name;
  if (attributes !== undefined) {
    for (const attribute in attributes) opening += ` ${attribute}="${attributes[attribute]}"`;
  }
  if (typeof content === "string") return `<${opening}>${escapeText(content)}</${name}>`;
  if (typeof content !== "object") return `<${opening}>${content}</${name}>`;
  let inner = "";
  for (const child of content) inner += element(child);
  return `<${opening}>${inner}</${name}>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // Parsers turn a carriage return into a newline unless it is escaped (XML 1.0, 2.11).
  "\r": "&#13;",
  "\n": "&#10;",
  "\t": "&#9;",
};

/**
 * Characters with an escape, and those that XML 1.0 cannot have, not even as references: clients that use such names ask
 * for `encoding-type=url`.
 */
// deno-lint-ignore no-control-regex
const ESCAPED = /[&<>"\x00-\x1f\ufffe\uffff]/g;

/** Most texts have only these characters: testing for them is faster than searching for characters to escape. */
const PLAIN = /^[\w \-./:=+%~]*$/;

/** Returns a text as it is written in an element or an attribute. */
export function escapeText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(
    ESCAPED,
    (character) => ESCAPES[character] ?? `&#x${character.charCodeAt(0).toString(16)};`,
  );
}
