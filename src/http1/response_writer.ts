import type { ClientConnection } from "./client_connection.ts";
import { MAX_READ_BUFFER, NO_BYTES } from "./connection.ts";
import { STATUS_TEXT } from "@std/http/status";

/** Properties of the request and its connection that determine how a response is sent. */
export interface ResponseContext {
  method: string;
  /** The minor version of HTTP/1. */
  minor: 0 | 1;
  /** Whether the connection closes after the response. */
  closes: boolean;
}

/** A response's body could not be read, or does not have the length in its head: the connection must be closed. */
export class BrokenBody extends Error {
  override readonly name = "BrokenBody";
}

/** What reads a body in pieces. */
interface BodyPieces {
  /** Returns the next piece; `undefined` at the end. */
  next(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
  /** To be called with a piece once it has been sent. */
  release(piece: Uint8Array): void;
}

/** A response that may have its whole body as bytes or as pieces, which is faster than a stream of the runtime. */
interface OutgoingResponse extends Response {
  readonly content?: Uint8Array | undefined;
  readonly pieces?: BodyPieces | undefined;
}

/** Headers about the connection, which the writer sets itself. */
const CONNECTION_HEADERS = new Set(["connection", "transfer-encoding", "keep-alive"]);

/** Bodies up to this many bytes are sent together with the head. */
const SMALL_BODY = MAX_READ_BUFFER;

/**
 * Sends a response. After an error the connection must be closed.
 *
 * @throws {ConnectionLost} if the client left.
 * @throws {BrokenBody}
 */
export async function writeResponse(
  client: ClientConnection,
  response: OutgoingResponse,
  context: ResponseContext,
): Promise<void> {
  const { status, headers } = response;
  const contentLength = headers.get("content-length");
  if (context.method === "HEAD" || status === 204 || status === 304) {
    return await sendHead(client, `${serializeHead(response, context)}\r\n`);
  }
  if (contentLength !== null && Number(contentLength) <= SMALL_BODY) {
    const piece = response.content ?? await readBody(response);
    if (piece.length !== Number(contentLength)) throw wrongLength();
    const head = `${serializeHead(response, context)}\r\n`;
    return await client.send({ head, piece, chunked: false, isLast: true });
  }
  const pieces = response.pieces ?? (response.body === null ? undefined : piecesOf(response.body));
  if (pieces === undefined) {
    return await sendHead(client, `${serializeHead(response, context)}Content-Length: 0\r\n\r\n`);
  }
  try {
    const length = contentLength === null ? undefined : Number(contentLength);
    const head = serializeHead(response, context);
    await sendPieces(client, pieces, { head, length }, context);
  } catch (error) {
    pieces.cancel().catch(() => {});
    throw error;
  }
}

function piecesOf(body: ReadableStream<Uint8Array>): BodyPieces {
  const reader = body.getReader();
  return {
    next: async () => (await reader.read()).value,
    cancel: () => reader.cancel(),
    release: () => {},
  };
}

/** Sends a response without a body. */
async function sendHead(client: ClientConnection, head: string): Promise<void> {
  await client.send({ head, piece: NO_BYTES, chunked: false, isLast: true });
}

async function sendPieces(
  client: ClientConnection,
  pieces: BodyPieces,
  { head: partialHead, length }: { head: string; length: number | undefined },
  { minor }: ResponseContext,
): Promise<void> {
  // HTTP/1.0 has no chunked coding: there the end of the connection ends the body.
  const chunked = length === undefined && minor === 1;
  let remaining = length ?? Infinity;
  let head = `${partialHead}${chunked ? "Transfer-Encoding: chunked\r\n" : ""}\r\n`;
  let reading = readPiece(pieces);
  for (;;) {
    const next = await reading;
    const isLast = next === undefined;
    const piece = next ?? NO_BYTES;
    // Read the next piece while this one is sent.
    if (!isLast) reading = readPiece(pieces);
    remaining -= piece.length;
    if (remaining < 0 || isLast && remaining > 0 && remaining !== Infinity) throw wrongLength();
    if (head !== "" || piece.length > 0 || isLast && chunked) {
      await client.send({ head, piece, chunked, isLast });
      if (!isLast) pieces.release(piece);
    }
    if (isLast) return;
    head = "";
  }
}

async function readBody(response: Response): Promise<Uint8Array> {
  try {
    return await response.bytes();
  } catch (cause) {
    throw new BrokenBody("The body cannot be read", { cause });
  }
}

function readPiece(pieces: BodyPieces): Promise<Uint8Array | undefined> {
  const reading = pieces.next().catch((cause: unknown) => {
    throw new BrokenBody("The body cannot be read", { cause });
  });
  // If the client leaves first, the result is never awaited.
  reading.catch(() => {});
  return reading;
}

function wrongLength(): BrokenBody {
  return new BrokenBody("The body does not have the length of its head");
}

/** Returns the status line and the headers, without those of the framing and without the empty line. */
function serializeHead({ status, headers }: Response, { closes }: ResponseContext): string {
  let text = `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n`;
  for (const [name, value] of headers) {
    if (!CONNECTION_HEADERS.has(name)) text += `${name}: ${value}\r\n`;
  }
  if (!headers.has("date")) text += `date: ${new Date().toUTCString()}\r\n`;
  if (closes) text += "connection: close\r\n";
  return text;
}

/** Where the standard library differs from RFC 9110 and RFC 4918. */
const REGISTERED: Readonly<Record<number, string>> = {
  203: "Non-Authoritative Information",
  207: "Multi-Status",
  407: "Proxy Authentication Required",
  422: "Unprocessable Content",
};

/** Returns the reason phrase of a status, or an empty text for an unregistered one. */
export function reasonPhrase(status: number): string {
  return REGISTERED[status] ?? STATUS_TEXT[status] ?? "";
}
