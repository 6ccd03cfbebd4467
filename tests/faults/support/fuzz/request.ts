import { patternBytes } from "../../../support/bytes.ts";
import { joinBytes } from "../../../support/drive.ts";
import { PROJECT_ID } from "../../../support/server.ts";
import { adminDraft } from "./admin.ts";
import { digestPiece, type HeaderLine, hostHeader, keyHeader, optionalHeaders } from "./headers.ts";
import { deleteBody } from "./json.ts";
import type { FuzzRandom } from "./random.ts";
import {
  Bytes,
  Draft,
  drivePiece,
  DRIVES,
  encode,
  goodName,
  hugeNumber,
  Known,
  KnownUpload,
  namePiece,
  numberPiece,
  type Piece,
  randomText,
} from "./text.ts";

export interface FuzzRequest {
  method: string;
  /** The bytes of the whole request. */
  bytes: Bytes;
  /** Whether the request must be rejected. */
  wrong: boolean;
  /** The started upload that the request refers to. */
  upload: KnownUpload | undefined;
}

/** Names of files that no request writes to, in every drive whose state is compared. */
export const STABLE = ["stable/empty", "stable/small.txt", "stable/large.bin"];

/** Methods that no route has. */
const UNSUPPORTED = ["BREW", "TRACE", "constructor"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "BREW", "TRACE", "constructor"];

/** Returns a request of any kind, determined by the random numbers and the known uploads and tags. */
export async function makeRequest(random: FuzzRandom, known: Known): Promise<FuzzRequest> {
  const draft = random.choose<(random: FuzzRandom, known: Known) => Draft>([
    [20, putDraft],
    [20, downloadDraft],
    [14, listDraft],
    [10, deleteDraft],
    [5, startDraft],
    [18, uploadDraft],
    [12, partDraft],
    [4, uploadsDraft],
    [2, drivesDraft],
    [12, adminDraft],
    [3, junkDraft],
  ])(random, known);
  const drive = drivePiece(random);
  const project = projectPiece(random);
  const usual = random.pick(draft.methods);
  const method = random.chance(0.9) ? usual : random.pick([...METHODS, "OPTIONS"]);
  const body = method === usual ? draft.body : undefined;
  const lines = await headersOf(random, known, draft, body);
  const root = `/v1/${project.text}/${draft.drive ?? drive.text}`;
  const target = (draft.whole ? draft.path : root + draft.path) + joinQuery(random, draft.query);
  const wrong = lines.some((line) => line.wrong) || !lines.some(isKey) ||
    project.wrong && !draft.whole || drive.wrong && !draft.whole && draft.drive === undefined ||
    method === usual && draft.query.some(([, piece]) => piece.wrong) ||
    UNSUPPORTED.includes(method) || method === "PUT" && method !== usual;
  return {
    method,
    bytes: assemble(random, `${method} ${target} HTTP/1.1`, lines, body),
    wrong: wrong && method !== "OPTIONS",
    upload: draft.upload,
  };
}

function isKey({ name }: HeaderLine): boolean {
  return name === "X-Api-Key";
}

function projectPiece(random: FuzzRandom): Piece {
  if (random.chance(0.97)) return { text: PROJECT_ID, wrong: false };
  return {
    text: random.pick(["other", "%", "%ff", "a_b", "x".repeat(5000), "%00", ".."]),
    wrong: true,
  };
}

function putDraft(random: FuzzRandom): Draft {
  const body = patternBytes(random.pick([0, 1, 10, 700, 5000, 65_536, 65_537]), random.below(9));
  return { methods: ["POST"], path: "/files", query: [["name", namePiece(random)]], body };
}

function downloadDraft(random: FuzzRandom): Draft {
  const stable = { text: encode(random, random.pick(STABLE)), wrong: false };
  const name = random.chance(0.5) ? stable : namePiece(random);
  return { methods: ["GET", "GET", "HEAD"], path: "/files/download", query: [["name", name]] };
}

/** Returns a value for `prefix` or `last`, which may be any text. */
function boundary(random: FuzzRandom): Piece {
  const long = random.pick(["p", "é", "\uffff", "\0", "\u{10ffff}"]).repeat(
    random.pick([300, 2100]),
  );
  const text = random.choose([
    [4, () => goodName(random).slice(0, random.between(0, 9)).toWellFormed()],
    [3, () => randomText(random, 9)],
    [1, () => long],
    [1, () => `${randomText(random, 3)}\0${randomText(random, 3)}`],
  ])();
  return { text: encode(random, text), wrong: false };
}

function listDraft(random: FuzzRandom): Draft {
  const query: [string, Piece][] = [];
  if (random.chance(0.5)) query.push(["limit", numberPiece(random, Infinity)]);
  if (random.chance(0.5)) query.push(["prefix", boundary(random)]);
  if (random.chance(0.5)) query.push(["last", boundary(random)]);
  if (random.chance(0.4)) query.push(["recursive", flagPiece(random)]);
  if (random.chance(0.4)) query.push(["details", flagPiece(random)]);
  return { methods: ["GET", "GET", "HEAD"], path: "/files", query };
}

function flagPiece(random: FuzzRandom): Piece {
  if (random.chance(0.8)) return { text: random.pick(["true", "false"]), wrong: false };
  return { text: random.pick(["", "TRUE", "1", "no", "%", "null"]), wrong: true };
}

function deleteDraft(random: FuzzRandom): Draft {
  const path = "/files";
  if (random.chance(0.8)) return { methods: ["DELETE"], path, query: [], body: deleteBody(random) };
  // An invalid name never existed, so that its deletion succeeds.
  const names = Array.from({ length: random.between(1, 4) }, () => namePiece(random));
  const query = names.map<[string, Piece]>(({ text }) => ["names", { text, wrong: false }]);
  return { methods: ["DELETE"], path, query };
}

function startDraft(random: FuzzRandom): Draft {
  return { methods: ["POST"], path: "/uploads", query: [["name", namePiece(random)]] };
}

function uploadsDraft(random: FuzzRandom): Draft {
  const query: [string, Piece][] = [];
  if (random.chance(0.5)) query.push(["limit", numberPiece(random, Infinity)]);
  if (random.chance(0.5)) query.push(["last", boundary(random)]);
  return { methods: ["GET"], path: "/uploads", query };
}

function uploadDraft(random: FuzzRandom, known: Known): Draft {
  const methods = random.choose([[5, "GET"], [3, "PATCH"], [2, "DELETE"], [1, "HEAD"]] as const);
  return { methods: [methods], ...uploadPath(random, known) };
}

function partDraft(random: FuzzRandom, known: Known): Draft {
  const { path, query, ...rest } = uploadPath(random, known);
  const body = patternBytes(random.pick([0, 3, 900, 65_537]), random.below(9));
  const part: [string, Piece] = ["part", numberPiece(random, 10_000)];
  return { methods: ["POST"], path: `${path}/parts`, query: [...query, part], body, ...rest };
}

/** Returns the path of an upload: usually a started one, with its name and in its drive. */
function uploadPath(
  random: FuzzRandom,
  known: Known,
): { path: string; query: [string, Piece][]; upload?: KnownUpload; drive?: string } {
  if (known.uploads.length === 0 || random.chance(0.25)) {
    const id = encode(random, strangeId(random)).replaceAll("/", "%2F");
    return { path: `/uploads/${id}`, query: [["name", { ...namePiece(random), wrong: true }]] };
  }
  const upload = random.pick(known.uploads);
  const path = `/uploads/${upload.id}`;
  const own = { text: encodeURIComponent(upload.name), wrong: false };
  const name = random.chance(0.8) ? own : namePiece(random);
  const drive = random.chance(0.9) ? upload.drive : random.pick(DRIVES);
  return { path, query: [["name", name]], upload, drive };
}

function strangeId(random: FuzzRandom): string {
  return random.pick([
    "0",
    "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
    "z".repeat(26),
    "É".repeat(26),
    "A".repeat(3000),
    "\0",
    "..",
    "a/b",
    randomText(random, 30),
  ]);
}

function drivesDraft(): Draft {
  return { methods: ["GET"], path: `/v1/${PROJECT_ID}`, whole: true, query: [] };
}

/** Drafts a request for an arbitrary path without line breaks. */
function junkDraft(random: FuzzRandom): Draft {
  const text = randomText(random, 40).replace(/[\s\u2028]/g, "/");
  const path = random.pick([
    `/${text}`,
    `/${encode(random, text)}`,
    `http://localhost:80/v1/${PROJECT_ID}/d0/files`,
    `//v1/${PROJECT_ID}/d0/files`,
    `/v1/${PROJECT_ID}/d0/files/download/../${text}`,
    `/v1/${"/".repeat(9000)}`,
    "*",
  ]);
  return { methods: ["GET", "POST", "DELETE", "OPTIONS"], path, whole: true, query: [] };
}

function joinQuery(random: FuzzRandom, query: [string, Piece][]): string {
  const pairs = query.map(([name, { text }]) => `${name}=${text}`);
  if (random.chance(0.05)) pairs.push(random.pick(["", "x", "=", "==&&", "%00=1", "unknown=%41"]));
  if (random.chance(0.1)) pairs.sort(() => random.fraction() - 0.5);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

async function headersOf(
  random: FuzzRandom,
  known: Known,
  draft: Draft,
  body: Bytes | undefined,
): Promise<HeaderLine[]> {
  const lines = [hostHeader(random), keyHeader(random), ...optionalHeaders(random, known.etags)];
  const checked = draft.methods.includes("POST") && body !== undefined;
  if (checked && random.chance(0.2)) {
    const { text: value, wrong } = await digestPiece(random, body);
    lines.push({ name: "Content-Digest", value, wrong });
  }
  if (random.chance(0.01)) {
    lines.push({
      name: "X-Ballast",
      value: hugeNumber(random).repeat(random.between(1, 9)),
      wrong: false,
    });
  }
  return lines.filter((line) => line !== undefined);
}

function assemble(
  random: FuzzRandom,
  requestLine: string,
  lines: readonly HeaderLine[],
  body: Bytes | undefined,
): Bytes {
  const chunked = body !== undefined && random.chance(0.2);
  const framing = chunked
    ? ["Transfer-Encoding: chunked"]
    : body === undefined
    ? []
    : [`Content-Length: ${body.length}`];
  const head = [requestLine, ...lines.map(({ name, value }) => `${name}: ${value}`), ...framing];
  // Only the request line may have characters of more than one byte. It is sent as UTF-8.
  const [first = "", ...rest] = head;
  const line = new TextEncoder().encode(`${first}\r\n`);
  const headers = Uint8Array.from(`${rest.join("\r\n")}\r\n\r\n`, (one) => one.charCodeAt(0));
  return joinBytes([
    line,
    headers,
    ...(chunked ? chunksOf(random, body) : [body ?? new Uint8Array()]),
  ]);
}

function chunksOf(random: FuzzRandom, body: Bytes): Bytes[] {
  const pieces: Bytes[] = [];
  for (let at = 0; at < body.length;) {
    const piece = body.slice(at, at + random.between(1, Math.max(1, body.length >> 1)));
    const size = piece.length.toString(16);
    pieces.push(new TextEncoder().encode(`${size}\r\n`), piece, new TextEncoder().encode("\r\n"));
    at += piece.length;
  }
  return [...pieces, new TextEncoder().encode("0\r\n\r\n")];
}
