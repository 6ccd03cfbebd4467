import { Buffer } from "node:buffer";
import { S3Error } from "../s3_error.ts";

/** What the head of a part of a form says. */
export interface PartHead {
  /** The name of the field in lower case. */
  name: string;
  /** The name of the file without folders; empty if there is none. */
  fileName: string;
}

/** A parameter of a header, with a value in quotes or without. */
const PARAMETER = /\s*;\s*([A-Za-z0-9*_-]+)=(?:"((?:\\["\\]|[^"])*)"|([^\s;"]*))/y;

/**
 * Parses the head of a part: `Content-Disposition: form-data; name="…"; filename="…"`. Other headers are ignored.
 *
 * @throws {S3Error}
 */
export function parsePartHead(head: Buffer): PartHead {
  for (const line of head.toString("latin1").split("\r\n")) {
    const [start] = /^content-disposition:\s*form-data(?=\s*;)/i.exec(line) ?? [];
    if (start === undefined) continue;
    const parameters = parseParameters(line, start.length);
    const name = parameters.get("name") ?? "";
    if (name === "") break;
    // "Only the text following the last slash or backslash is used."
    const fileName = (parameters.get("filename") ?? "").replace(/^.*[\\/]/s, "");
    return { name: name.toLowerCase(), fileName };
  }
  throw new S3Error(
    "MalformedPOSTRequest",
    "The form is malformed: a part has no Content-Disposition that names its field",
  );
}

function parseParameters(line: string, from: number): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, token = ""] of matchesFrom(line, from)) {
    const value = quoted === undefined ? token : unescape(quoted);
    parameters.set(name.toLowerCase(), Buffer.from(value, "latin1").toString("utf8"));
  }
  return parameters;
}

function* matchesFrom(line: string, from: number): Generator<RegExpExecArray> {
  const parameter = new RegExp(PARAMETER);
  parameter.lastIndex = from;
  for (let match = parameter.exec(line); match !== null; match = parameter.exec(line)) yield match;
}

/** Browsers write quotes and the ends of lines as `%22`, `%0D` and `%0A`; other clients put a backslash before quotes. */
function unescape(quoted: string): string {
  return quoted.replaceAll(/\\(["\\])/g, "$1").replaceAll(
    /%(22|0D|0A)/gi,
    (_, hex: string) => String.fromCharCode(parseInt(hex, 16)),
  );
}
