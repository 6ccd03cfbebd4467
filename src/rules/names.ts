/** A file's name, in bytes of UTF-8 (wire contract).. */
export const MAX_FILE_NAME = 1024;

/** A drive's name, in bytes of UTF-8 after percent-decoding (wire contract). */
export const MAX_DRIVE_NAME = 128;

/** A project's id, in characters (wire contract). */
export const MAX_PROJECT_ID = 64;

/** An application's name, in characters: it is a segment of a path and a part of keys, as a project's id is. */
export const MAX_APP_NAME = 64;

/** The name of a key or of a project, and a key's description, in characters: they are for lists that people read. */
export const MAX_KEY_NAME = 128;

export const MAX_DESCRIPTION = 1024;

/** "Defaults to 1000" (List Files); a greater `limit` counts as this. */
export const MAX_LIST = 1000;

/** "at most 1000 names per request" (Delete Files). */
export const MAX_DELETE_NAMES = 1000;

const encoder = new TextEncoder();

/** What most names are made of; there is nothing wrong with one like that, and its characters are its bytes. */
const PLAIN = /^[A-Za-z0-9._-]{1,100}$/;

/** A name's length in bytes of UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/** What is wrong with a file's name, as the end of a sentence that begins with "The file name"; `undefined` if nothing. */
export function fileNameProblem(name: string): string | undefined {
  if (PLAIN.test(name)) return undefined;
  if (name === "") return "is empty: it needs 1 to 1024 bytes";
  if (name.trim() === "") return "is blank: it needs a character other than white space";
  // "Must not end with `/`."
  if (name.endsWith("/")) return 'ends with "/": name the file behind the last slash';
  if (name.includes("\0")) return "has a NUL character: leave it out";
  if (!name.isWellFormed()) return "is not valid Unicode: it has half of a surrogate pair";
  const bytes = byteLength(name);
  return bytes > MAX_FILE_NAME
    ? `has ${bytes} bytes of UTF-8: at most ${MAX_FILE_NAME} are allowed`
    : undefined;
}

/** What is wrong with a drive's name, as the end of a sentence that begins with "The drive name". */
export function driveNameProblem(name: string): string | undefined {
  if (PLAIN.test(name)) return undefined;
  if (name.trim() === "") return "is blank: it needs 1 to 128 bytes";
  if (name.includes("/")) return 'has a "/": a drive name is one segment of the path';
  if (/\p{Cc}/u.test(name)) return "has a control character: leave it out";
  if (!name.isWellFormed()) return "is not valid Unicode: it has half of a surrogate pair";
  const bytes = byteLength(name);
  return bytes > MAX_DRIVE_NAME
    ? `has ${bytes} bytes of UTF-8: at most ${MAX_DRIVE_NAME} are allowed`
    : undefined;
}

/** Whether this can be a project's id: 1 to 64 of `A-Z a-z 0-9 -`. */
export function isProjectId(id: string): boolean {
  return id.length <= MAX_PROJECT_ID && /^[A-Za-z0-9-]+$/.test(id);
}

const APP_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** What is wrong with an application's name, as the end of a sentence that begins with its name; `undefined` if nothing. */
export function appNameProblem(name: string): string | undefined {
  if (name.length <= MAX_APP_NAME && APP_NAME.test(name)) return undefined;
  return `must be 1 to ${MAX_APP_NAME} of A-Z a-z 0-9 - _ . and begin with a letter or a digit`;
}

/** What is wrong with the name of a key, or of a project, as the end of a sentence. */
export function keyNameProblem(name: string): string | undefined {
  if (name.trim() === "") return `is blank: it needs 1 to ${MAX_KEY_NAME} characters`;
  if (/\p{Cc}/u.test(name)) return "has a control character: leave it out";
  return textProblem(name, MAX_KEY_NAME);
}

/** What is wrong with the description of a key, as the end of a sentence. It may be empty and have several lines. */
export function descriptionProblem(text: string): string | undefined {
  if (/[^\P{Cc}\n]/u.test(text)) return "has a control character: only newlines are allowed";
  return textProblem(text, MAX_DESCRIPTION);
}

function textProblem(text: string, limit: number): string | undefined {
  if (!text.isWellFormed()) return "is not valid Unicode: it has half of a surrogate pair";
  const length = [...text].length;
  return length > limit ? `has ${length} characters: at most ${limit} are allowed` : undefined;
}

/** The first position of the range in UTF-16 that stands for code points above U+FFFF. */
const SURROGATES = 0xd800;
const LAST_CODE_POINT = 0x10ffff;

/**
 * Compares two names by their UTF-8 bytes, as the store orders them: negative, zero or positive.
 * JavaScript's `<` compares UTF-16 units, which puts U+1F600 before U+FFFD.
 */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Moves the units of surrogate pairs behind all others, where their code points belong. */
function rank(unit: number): number {
  return unit >= SURROGATES && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** The smallest name that is greater than `name`. No name holds a NUL, so this one itself is never taken. */
export function nameAfter(name: string): string {
  return name + "\0";
}

/**
 * The smallest string that is greater than `text` as far as names can tell: none holds a NUL or has more than 1024
 * bytes, so what comes after that in `text` decides nothing, and the string fits into a key.
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

/** The smallest string that is greater than all that begin with `prefix`; `undefined` if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last === LAST_CODE_POINT) continue;
    // U+D800 to U+DFFF are no characters.
    points.push(last + 1 === SURROGATES ? 0xe000 : last + 1);
    return String.fromCodePoint(...points);
  }
  return undefined;
}
