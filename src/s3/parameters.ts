/**
 * Parameters that several operations have.
 *
 * @module
 */
import type { Query } from "../http/request_target.ts";
import { s3Errors } from "./s3_error.ts";

/** The most entries in a page (Amazon's limit). */
export const MAX_ENTRIES = 1000;

/** Estimated memory for an entry with a name of common length, read and written, in bytes. */
export const ENTRY_MEMORY = 1024;

/** Returns the number in a parameter, 0 or more; `absent` without it. @throws {S3Error} */
export function numberParameter(query: Query, name: string, absent: number): number {
  const text = query.one(name) || String(absent);
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw s3Errors.badArgument(name, text, "it must be a whole number");
}

/** Returns the number in a parameter, 1 to `max`; `undefined` without it. @throws {S3Error} */
export function positiveParameter(query: Query, name: string, max: number): number | undefined {
  const text = query.one(name);
  if (text === undefined) return undefined;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= max) return number;
  throw s3Errors.badArgument(name, text, `it must be 1 to ${max}`);
}

/** The size of a page. @throws {S3Error} */
export function pageLimit(query: Query, name: string): number {
  return Math.min(numberParameter(query, name, MAX_ENTRIES), MAX_ENTRIES);
}

/** How a list writes names. */
export interface NameEncoding {
  encoding: "url" | undefined;
  encoded: (name: string) => string;
}

/** Reads `encoding-type`: XML cannot have every character of a name. @throws {S3Error} */
export function nameEncoding(query: Query): NameEncoding {
  const encoding = query.one("encoding-type") || undefined;
  if (encoding === undefined) return { encoding, encoded: (name) => name };
  if (encoding === "url") return { encoding, encoded: encodeName };
  throw s3Errors.badArgument("encoding-type", encoding, "it must be url");
}

/** Percent-encodes a name as Amazon does it, which leaves slashes. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll("%2F", "/")
    .replace(/[!'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
