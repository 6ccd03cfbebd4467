/**
 * The parts of the format that are JSON. The small ones, `config` and `keys/ID`, carry a checksum, as their names say
 * nothing of their bytes.
 *
 * @module
 */
import { type Bytes, sha256Hex } from "./bytes.ts";
import { BadFormat } from "./errors.ts";

/** The field with the SHA-256 of the others. Files that were made before it was added have none. */
const CHECKSUM = "sha256";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns an object with a checksum, as a line of JSON. */
export function encodeChecked(fields: Record<string, unknown>): Bytes {
  return encoder.encode(`${JSON.stringify({ ...fields, [CHECKSUM]: checksumOf(fields) })}\n`);
}

/** Returns the fields of a JSON object without its checksum. @throws {BadFormat} */
export function parseChecked(bytes: Uint8Array): Record<string, unknown> {
  const { [CHECKSUM]: checksum, ...fields } = parseObject(bytes);
  // Without it, another field of its form is the checksum, and its name is damaged.
  const expected = checksum ?? Object.values(fields).find(isChecksum);
  if (expected === undefined || expected === checksumOf(fields)) return fields;
  throw new BadFormat("is damaged: its content does not match its checksum");
}

function checksumOf(fields: Record<string, unknown>): string {
  return sha256Hex(encoder.encode(JSON.stringify(fields)));
}

function isChecksum(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** Returns the fields of a JSON object. @throws {BadFormat} */
export function parseObject(bytes: Uint8Array): Record<string, unknown> {
  try {
    return objectIn(JSON.parse(decoder.decode(bytes)));
  } catch (error) {
    if (error instanceof BadFormat) throw error;
    throw new BadFormat("is no JSON", { cause: error });
  }
}

export function objectIn(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new BadFormat("lacks a field");
}

export function textIn(value: unknown, form: RegExp): string {
  if (typeof value === "string" && form.test(value)) return value;
  throw new BadFormat("lacks a text");
}

export function countIn(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new BadFormat("lacks a number");
}
