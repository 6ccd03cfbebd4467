import { type Field, parseFields } from "./fields.ts";
import { Malformed } from "./malformed.ts";

/** What stands before the body of an answer. */
export interface ResponseHead {
  status: number;
  /** The words behind the status, as they came. */
  reason: string;
  minor: 0 | 1;
  fields: readonly Field[];
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: (.*))?$/;

/** Reads the head of an answer. @throws {Malformed} */
export function parseResponseHead(text: string): ResponseHead {
  const lines = text.split("\r\n");
  const found = STATUS_LINE.exec(lines[0] ?? "");
  if (found === null) throw new Malformed("its first line is not version and status");
  const [, minor, status, reason = ""] = found;
  return {
    status: Number(status),
    reason,
    minor: minor === "0" ? 0 : 1,
    fields: parseFields(lines),
  };
}
