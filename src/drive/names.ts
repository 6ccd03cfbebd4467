import { MAX_DRIVE_NAME, MAX_NAME, MAX_PROJECT_ID } from "./limits.ts";

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
  return bytes > MAX_NAME
    ? `has ${bytes} bytes of UTF-8: at most ${MAX_NAME} are allowed`
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
