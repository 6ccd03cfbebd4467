import { AWKWARD_NAMES } from "../../../support/names.ts";
import { FuzzRandom } from "./random.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** A started upload, which may be closed already. */
export interface KnownUpload {
  drive: string;
  id: string;
  name: string;
}

/** A request before it has headers. */
export interface Draft {
  methods: string[];
  /** The path after the drive, or the whole path if `whole`. */
  path: string;
  whole?: boolean;
  query: [string, Piece][];
  body?: Bytes;
  upload?: KnownUpload;
  drive?: string;
}

export interface Known {
  uploads: KnownUpload[];
  /** Entity tags of files that do not change. */
  etags: string[];
}

/** A value in its encoded form, and whether the request must be rejected because of it. */
export interface Piece {
  text: string;
  wrong: boolean;
}

/** Malformed escapes, and escapes of invalid UTF-8. */
const BROKEN_ESCAPES = [
  "%",
  "%4g",
  "%zz",
  "%%",
  "%ff",
  "%c0%af",
  "%e2%82",
  "%ed%a0%80",
  "%f4%90%80%80",
  "a%u0041",
  "%80",
];

const CHARACTERS = [
  ..."abcXYZ019 /\\.?#&=+%;:@!$'()*,~_-[]{}|^`\"<>",
  "é",
  "é",
  "ß",
  "日",
  "🦖",
  "\u200b",
  "\u202e",
  "\ufeff",
  "\uffff",
  "\u{10ffff}",
  "\t",
  "\n",
  "\r",
  "\u007f",
  "\u0085",
];

const BLANK_NAMES = ["", " ", "\t\n", "\u3000", "\u0085"];

/** Returns a text without NUL and lone surrogates. */
export function randomText(random: FuzzRandom, max: number): string {
  return Array.from({ length: random.between(1, max) }, () => random.pick(CHARACTERS)).join("");
}

/** Returns one of 60 texts, so that names repeat and the drive does not grow without limit. */
function fewTexts(random: FuzzRandom): string {
  return `x${randomText(new FuzzRandom(random.below(60)), 20)}x`;
}

/** Returns a valid name without encoding. */
export function goodName(random: FuzzRandom): string {
  return random.choose([
    [4, () => `file-${random.below(20)}`],
    [3, () => `dir-${random.below(3)}/sub-${random.below(3)}/${random.below(4)}.txt`],
    [3, () => random.pick(AWKWARD_NAMES).name],
    [2, () => fewTexts(random)],
    [1, () => "n".repeat(random.pick([1023, 1024]))],
    [1, () => "é".repeat(512)],
  ])();
}

function badName(random: FuzzRandom): string {
  return random.choose([
    [2, () => random.pick(BLANK_NAMES)],
    [2, () => `${fewTexts(random)}/`],
    [2, () => `${fewTexts(random)}\0${fewTexts(random)}`],
    [1, () => "n".repeat(random.pick([1025, 2047, 2048, 9000, 20_000]))],
    [1, () => "é".repeat(random.pick([513, 1025, 3000]))],
    [1, () => "\0".repeat(random.pick([1, 700, 1024, 4000]))],
  ])();
}

export function brokenEscape(random: FuzzRandom): string {
  const broken = random.pick(BROKEN_ESCAPES);
  return random.chance(0.5) ? broken : `${fewPlain(random)}${broken}${fewPlain(random)}`;
}

function fewPlain(random: FuzzRandom): string {
  return random.pick(["", "a", "%41", "b/"]);
}

/** Percent-encodes a text, sometimes more characters than required, and with digits in either case. */
export function encode(random: FuzzRandom, text: string): string {
  const encoded = encodeURIComponent(text);
  if (random.chance(0.6)) return encoded;
  return encoded.replace(/%[0-9A-F]{2}|./g, (one) => {
    if (one.startsWith("%")) return random.chance(0.3) ? one.toLowerCase() : one;
    if (!random.chance(0.2)) return one;
    return `%${one.charCodeAt(0).toString(16)}`;
  });
}

/** Returns a value of the parameter `name`. */
export function namePiece(random: FuzzRandom): Piece {
  return random.choose<() => Piece>([
    [12, () => ({ text: encode(random, goodName(random)), wrong: false })],
    [3, () => ({ text: encode(random, badName(random)), wrong: true })],
    [2, () => ({ text: brokenEscape(random), wrong: true })],
  ])();
}

/** Names of drives whose state is compared. */
export const DRIVES = ["d0", "d1", "d2"];
const ODD_DRIVES = ["..", ".", "a b", "%", "🦖", "x".repeat(128), "d0 ", "__proto__", "?#&"];
const BAD_DRIVES = [
  " ",
  "\u3000",
  "a/b",
  "a\nb",
  "\0",
  "\u0085",
  "x".repeat(129),
  "é".repeat(3000),
];

/** Returns the drive's segment of the path. */
export function drivePiece(random: FuzzRandom): Piece {
  return random.choose<() => Piece>([
    [30, () => ({ text: random.pick(DRIVES), wrong: false })],
    [3, () => ({ text: encode(random, random.pick(ODD_DRIVES)), wrong: false })],
    [2, () => ({ text: encode(random, random.pick(BAD_DRIVES)), wrong: true })],
    [1, () => ({ text: brokenEscape(random).replaceAll("/", "%2F"), wrong: true })],
  ])();
}

/** Returns a whole number from 1 to `max`, or an invalid one. */
export function numberPiece(random: FuzzRandom, max: number): Piece {
  const good = [1, 2, 3, 999, 1000, max].filter((one) => one <= max);
  const bad = ["0", "-1", "1.0", "1e3", "+1", " 1", "0x1", "abc", "", "NaN", "１", "1,2", "00"];
  return random.choose<() => Piece>([
    [6, () => ({ text: String(random.pick(good)), wrong: false })],
    [1, () => ({ text: `00${random.pick(good)}`, wrong: false })],
    [1, () => ({ text: hugeNumber(random), wrong: Number.isFinite(max) })],
    [2, () => ({ text: encode(random, random.pick(bad)), wrong: true })],
    [1, () => ({ text: brokenEscape(random), wrong: true })],
  ])();
}

export function hugeNumber(random: FuzzRandom): string {
  return random.pick(["4294967296", "9007199254740993", "18446744073709551616"]) +
    "9".repeat(random.pick([0, 1, 20, 400, 5000]));
}
