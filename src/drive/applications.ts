import {
  MAX_APP_NAME,
  MAX_DESCRIPTION,
  MAX_HOST,
  MAX_HOST_LABEL,
  MAX_KEY_NAME,
  MAX_UPSTREAM,
} from "./limits.ts";

const APP_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** An origin as people write it; what `URL` would correct or cut off is not taken. */
const ORIGIN = /^https?:\/\/[^\s\\/?#@]+\/?$/i;

const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** A last label that browsers read as the number of an IPv4 address (URL standard, "ends in a number"). */
const NUMBER = /^([0-9]+|0x[0-9a-f]*)$/;

/** What is wrong with an application's name, as the end of a sentence that begins with its name; `undefined` if nothing. */
export function appNameProblem(name: string): string | undefined {
  if (name.length <= MAX_APP_NAME && APP_NAME.test(name)) return undefined;
  return `must be 1 to ${MAX_APP_NAME} of A-Z a-z 0-9 - _ . and begin with a letter or a digit`;
}

/** What is wrong with the address of an application, as the end of a sentence. */
export function upstreamProblem(text: string): string | undefined {
  if (text.length > MAX_UPSTREAM) return `is too long: at most ${MAX_UPSTREAM} characters`;
  if (ORIGIN.test(text) && URL.canParse(text)) return undefined;
  return "must be like http://127.0.0.1:3000: http or https, a host and a port, and nothing else";
}

/** What is wrong with the host name of an application, as the end of a sentence. Give it in lower case. */
export function hostProblem(text: string): string | undefined {
  const labels = text.split(".");
  const isName = text.length <= MAX_HOST && !NUMBER.test(labels.at(-1) ?? "") &&
    labels.every((label) => label.length <= MAX_HOST_LABEL && LABEL.test(label));
  if (!isName) return "must be a host name like app.example.com, without a port, and no IP address";
  return isCanonicalIdn(text) ? undefined : 'has a label "xn--…" that no browser writes so';
}

/** Whether all internationalized labels of a name have the form that browsers send ("domain to ASCII"). */
function isCanonicalIdn(name: string): boolean {
  if (!name.includes("xn--")) return true;
  const url = `http://${name}`;
  return URL.canParse(url) && new URL(url).hostname === name;
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
