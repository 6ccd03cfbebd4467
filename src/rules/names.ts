/**
 * What files, drives, projects, applications and keys may be called, and the order of file names.
 *
 * A function `…Problem` returns what is wrong with a name as the end of a sentence that starts with the thing, such as
 * "The file name …", or `undefined` for a valid name.
 *
 * @module
 */

/** A file's name, in bytes of UTF-8 (docs/contract.md, Names). */
export const MAX_FILE_NAME = 1024;

/** A drive's name, in bytes of UTF-8 after percent-decoding (docs/contract.md, Names). */
export const MAX_DRIVE_NAME = 128;

/** A project's id, in characters (docs/contract.md, Names). */
export const MAX_PROJECT_ID = 64;

/** An application's name, in characters: like a project's id it is a segment of paths and a part of store keys. */
export const MAX_APP_NAME = 64;

/** The name of a key or of a project, and a key's description, in characters: they are shown in lists. */
export const MAX_KEY_NAME = 128;
export const MAX_DESCRIPTION = 1024;

/** "`limit` above 1000 counts as 1000" (docs/contract.md, General rules). */
export const MAX_LIST = 1000;

/** "One request looks at 100,000 names at most" (Search). */
export const MAX_SEARCHED = 100_000;

/** "at most 1000 names per request" (Delete Files). */
export const MAX_DELETE_NAMES = 1000;

/** Most names: valid, and with one byte a character. Checked first because every request names a file. */
const PLAIN_NAME = /^[A-Za-z0-9._-]{1,100}$/;

const PROJECT_ID = /^[A-Za-z0-9-]+$/;
const APP_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Where UTF-16 reserves the surrogates, which encode the code points above U+FFFF. */
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;
const LAST_CODE_POINT = 0x10ffff;

const encoder = new TextEncoder();

const BLANK = /^\p{White_Space}*$/u;

/** Printable text whose characters have one byte each. */
const ASCII = /^[ -~]*$/;

/** Returns the length of a text in bytes of UTF-8. */
export function byteLength(text: string): number {
  return ASCII.test(text) ? text.length : encoder.encode(text).byteLength;
}

/** Whether a text is empty or "white space alone", as Unicode defines it. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/** Checks a file's name: 1 to 1024 bytes of UTF-8, not blank, no NUL, no `/` at its end. */
export function fileNameProblem(name: string): string | undefined {
  if (PLAIN_NAME.test(name)) return undefined;
  if (name === "") return "is empty: it needs 1 to 1024 bytes";
  if (isBlank(name)) return "is blank: it needs a character other than white space";
  // "Must not end with `/`."
  if (name.endsWith("/")) return 'ends with "/": add a file name after the last slash';
  if (name.includes("\0")) return "has a NUL character: leave it out";
  return unicodeProblem(name) ?? byteLengthProblem(name, MAX_FILE_NAME);
}

/** Checks the beginning of file names that a key may be limited to. */
export function namePrefixProblem(prefix: string): string | undefined {
  if (prefix === "") return "is empty: leave it out for all names";
  if (prefix.includes("\0")) return "has a NUL character, which no name has: leave it out";
  return unicodeProblem(prefix) ?? byteLengthProblem(prefix, MAX_FILE_NAME);
}

/** Checks a folder's name: that of a file, with a `/` at its end. */
export function folderNameProblem(name: string): string | undefined {
  if (!name.endsWith("/")) return 'does not end with "/": add it';
  if (isBlank(name.slice(0, -1))) return 'is blank before its last "/": name the folder';
  if (name.includes("\0")) return "has a NUL character: leave it out";
  return unicodeProblem(name) ?? byteLengthProblem(name, MAX_FILE_NAME);
}

/** Checks the beginning of file names. It may be empty, which selects all names. */
export function prefixProblem(prefix: string): string | undefined {
  if (prefix.includes("\0")) return "has a NUL character: leave it out";
  return unicodeProblem(prefix) ?? byteLengthProblem(prefix, MAX_FILE_NAME);
}

/** Checks a drive's name: 1 to 128 bytes of UTF-8, not blank, no `/`, no control character. */
export function driveNameProblem(name: string): string | undefined {
  if (PLAIN_NAME.test(name)) return undefined;
  if (isBlank(name)) return "is blank: it needs 1 to 128 bytes";
  if (name.includes("/")) return 'has a "/": a drive name is one segment of the path';
  if (/\p{Cc}/u.test(name)) return "has a control character: leave it out";
  return unicodeProblem(name) ?? byteLengthProblem(name, MAX_DRIVE_NAME);
}

/** Returns whether a text is a valid project id: "1 to 64 characters of `A-Z a-z 0-9 -`" (docs/contract.md, Names). */
export function isProjectId(id: string): boolean {
  return id.length <= MAX_PROJECT_ID && PROJECT_ID.test(id);
}

/** Checks an application's name. */
export function appNameProblem(name: string): string | undefined {
  if (name.length <= MAX_APP_NAME && APP_NAME.test(name)) return undefined;
  return `must be 1 to ${MAX_APP_NAME} of A-Z a-z 0-9 - _ . and begin with a letter or a digit`;
}

/** Checks the name of a key or of a project. */
export function keyNameProblem(name: string): string | undefined {
  if (isBlank(name)) return `is blank: it needs 1 to ${MAX_KEY_NAME} characters`;
  if (/\p{Cc}/u.test(name)) return "has a control character: leave it out";
  return unicodeProblem(name) ?? lengthProblem(name, MAX_KEY_NAME);
}

/** Checks the description of a key. It may be empty and have several lines. */
export function descriptionProblem(text: string): string | undefined {
  if (/[^\P{Cc}\n]/u.test(text)) return "has a control character: only newlines are allowed";
  return unicodeProblem(text) ?? lengthProblem(text, MAX_DESCRIPTION);
}

function unicodeProblem(text: string): string | undefined {
  return text.isWellFormed() ? undefined : "is not valid Unicode: it has half of a surrogate pair";
}

function byteLengthProblem(text: string, limit: number): string | undefined {
  const bytes = byteLength(text);
  return bytes > limit ? `has ${bytes} bytes of UTF-8: at most ${limit} are allowed` : undefined;
}

function lengthProblem(text: string, limit: number): string | undefined {
  const length = [...text].length;
  return length > limit ? `has ${length} characters: at most ${limit} are allowed` : undefined;
}

/**
 * Compares two names by their UTF-8 bytes, which is the order of the store and of listings. JavaScript's `<` compares
 * UTF-16 units, which puts U+1F600 before U+FFFD.
 *
 * @returns A negative number, zero or a positive number, as `Array.sort` wants it.
 */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates behind all other UTF-16 units, where their code points belong. */
function utf8Rank(unit: number): number {
  return unit >= FIRST_SURROGATE && unit < AFTER_SURROGATES ? unit + 0x10000 : unit;
}

/** Returns the smallest string that is greater than `name`. It has a NUL, so it is never a name itself. */
export function nameAfter(name: string): string {
  return name + "\0";
}

/**
 * Returns a boundary that fits into a store key and divides valid names as `text` does: a name is at least the boundary
 * if and only if it is greater than `text`. No name has a NUL or more than 1024 bytes, so the rest of `text` after either
 * has no effect.
 */
export function boundaryAfter(text: string): string {
  const [head = ""] = text.split("\0", 1);
  let bytes = 0;
  let length = 0;
  for (const character of head) {
    if (bytes > MAX_FILE_NAME) break;
    bytes += byteLength(character);
    length += character.length;
  }
  return nameAfter(head.slice(0, length));
}

/** Returns the smallest string that is greater than all strings with a prefix, or `undefined` if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last === LAST_CODE_POINT) continue;
    points.push(last + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : last + 1);
    return String.fromCodePoint(...points);
  }
  return undefined;
}
