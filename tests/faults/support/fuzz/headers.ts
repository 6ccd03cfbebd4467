import { digestField } from "../../../support/bytes.ts";
import { PROJECT_KEY } from "../../../support/server.ts";
import type { FuzzRandom } from "./random.ts";
import { hugeNumber, type Piece } from "./text.ts";

export interface HeaderLine {
  name: string;
  value: string;
  /** Whether the request must be rejected because of it. */
  wrong: boolean;
}

/** Values for any header, one byte per character. */
const ANYTHING = [
  "",
  "*",
  ",",
  ",,,",
  '"',
  '""',
  "\t",
  "é",
  "\xff\xfe\x80",
  'a=b; c="d"; e',
  "null",
  "0",
  "-1",
  "99999999999999999999",
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "Thu, 99 Foo 99999 99:99:99 GMT",
  "Fri, 31 Dec 9999 23:59:59 GMT",
  "Sunday, 06-Nov-94 08:49:37 GMT",
  '"01ARZ3NDEKTSV4RRFFQ69G5FAV"',
  'W/"x", "y" , z,W/',
];

const CONDITIONS = [
  "If-Match",
  "If-None-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
  "If-Range",
];

const TYPES = [
  "text/plain; charset=utf-8",
  "binary/octet-stream",
  "a",
  "\xe9/\xff",
  "text/plain, text/html",
  "x".repeat(255),
  "multipart/form-data; boundary=",
];

/** Returns headers that any request may have. */
export function optionalHeaders(random: FuzzRandom, known: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  const add = (probability: number, name: string, value: () => string) => {
    if (random.chance(probability)) lines.push({ name, value: value(), wrong: false });
  };
  for (const name of CONDITIONS) {
    add(0.06, name, () => random.chance(0.4) ? random.pick(known) : anything(random));
  }
  add(0.35, "Range", () => rangeValue(random));
  add(0.2, "Content-Type", () => random.pick(TYPES));
  add(0.15, "X-Request-Id", () => anything(random));
  add(0.05, "Origin", () => anything(random));
  add(0.05, "Access-Control-Request-Method", () => anything(random));
  add(0.05, "Access-Control-Request-Headers", () => anything(random));
  add(0.05, "Accept-Encoding", () => random.pick(["gzip", "br;q=1.0, *;q=0", anything(random)]));
  add(0.05, `X-${random.below(1000)}`, () => anything(random));
  if (random.chance(0.05) && lines.length > 0) lines.push({ ...random.pick(lines) });
  return lines;
}

function anything(random: FuzzRandom): string {
  if (random.chance(0.03)) return random.pick(ANYTHING).repeat(random.pick([50, 500]));
  return random.pick(ANYTHING);
}

function rangeValue(random: FuzzRandom): string {
  const number = () =>
    random.chance(0.1) ? hugeNumber(random) : String(random.below(random.pick([20, 150, 300_000])));
  return random.choose([
    [6, () => `bytes=${number()}-${number()}`],
    [3, () => `bytes=${number()}-`],
    [3, () => `bytes=-${number()}`],
    [1, () => `bytes=${number()}-${number()},${number()}-${number()}`],
    [1, () => random.pick(["bytes=", "bytes=-", "bytes=a-b", "bytes=--1", "items=0-1", "0-1"])],
    [1, () => anything(random)],
  ])();
}

export function keyHeader(random: FuzzRandom): HeaderLine | undefined {
  if (random.chance(0.95)) return { name: "X-Api-Key", value: PROJECT_KEY, wrong: false };
  if (random.chance(0.3)) return undefined;
  const keys = [`${PROJECT_KEY}x`, PROJECT_KEY.slice(1), "_", "a_b", "\xff", "x".repeat(5000), ""];
  return { name: "X-Api-Key", value: random.pick(keys), wrong: true };
}

const BAD_HOSTS = [
  "a/b",
  "a?b",
  "a#b",
  "a@b",
  "[",
  "a:b:c",
  "a b",
  "localhost:99999",
  "\xff",
  "a\\b",
];

export function hostHeader(random: FuzzRandom): HeaderLine {
  if (random.chance(0.03)) return { name: "Host", value: random.pick(BAD_HOSTS), wrong: true };
  const hosts = ["localhost", "127.0.0.1:8000", "[::1]", "UPPER.case:1"];
  return { name: "Host", value: random.pick(hosts), wrong: false };
}

/** Returns a `Content-Digest` of a body: correct, of other bytes, or malformed. */
export async function digestPiece(
  random: FuzzRandom,
  body: Uint8Array<ArrayBuffer>,
): Promise<Piece> {
  const correct = await digestField(body);
  const other = await digestField(new Uint8Array([...body.slice(0, 10), 1]));
  const bad = [
    "sha-256",
    "sha-256=abc",
    "sha-256=::",
    `${correct},`,
    "=",
    "sha-256=:éé:",
    `x${correct}x`,
  ];
  return random.choose<Piece>([
    [4, { text: correct, wrong: false }],
    [1, { text: `md5=:AAAA:, ${correct}`, wrong: false }],
    [2, { text: other, wrong: true }],
    [2, { text: random.pick(bad), wrong: true }],
  ]);
}
