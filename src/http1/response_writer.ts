import type { ClientConnection } from "./client_connection.ts";
import { MAX_READ_BUFFER, type MessagePart } from "./connection.ts";

/** What the answer to a request depends on. */
export interface ResponseContext {
  method: string;
  minor: 0 | 1;
  /** Whether the connection ends with the answer. */
  closes: boolean;
}

/** The body of an answer was not what its head says, or could not be read: the connection has to break. */
export class BrokenBody extends Error {
  override readonly name = "BodyBroken";
}

/** The words behind the statuses of RFC 9110, 15, of RFC 6585 and of RFC 4918. Others have none. */
export const REASONS: Partial<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  417: "Expectation Failed",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
  507: "Insufficient Storage",
};

/** Headers that say how an answer is framed, which only the server knows. */
const FRAMING = new Set(["connection", "transfer-encoding", "keep-alive"]);

/** An answer of up to this many bytes is sent in one go. */
const SMALL = MAX_READ_BUFFER;

const NOTHING = new Uint8Array(0);

/**
 * Sends an answer.
 *
 * @throws {ConnectionLost} where the client left, {BodyBroken} where the body did. Then the connection has to be closed.
 */
export async function writeResponse(
  client: ClientConnection,
  response: Response,
  asked: ResponseContext,
): Promise<void> {
  const { status, headers } = response;
  const told = headers.get("content-length");
  if (asked.method === "HEAD" || status === 204 || status === 304) {
    return await sendHead(client, `${headText(response, asked)}\r\n`);
  }
  if (told !== null && Number(told) <= SMALL) {
    const piece = await bytesOf(response);
    if (piece.length !== Number(told)) throw new BrokenBody("The body has another length");
    const head = `${headText(response, asked)}\r\n`;
    return await client.send({ head, piece, chunked: false, isLast: true });
  }
  if (response.body === null) {
    return await sendHead(client, `${headText(response, asked)}Content-Length: 0\r\n\r\n`);
  }
  const reader = response.body.getReader();
  try {
    const length = told === null ? undefined : Number(told);
    await sendStream(client, reader, length, headText(response, asked), asked);
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

/** Sends an answer without a body. */
async function sendHead(client: ClientConnection, head: string): Promise<void> {
  await client.send({ head, piece: NOTHING, chunked: false, isLast: true });
}

async function bytesOf(response: Response): Promise<Uint8Array> {
  try {
    return await response.bytes();
  } catch (cause) {
    throw new BrokenBody("The body cannot be read", { cause });
  }
}

async function sendStream(
  client: ClientConnection,
  body: ReadableStreamDefaultReader<Uint8Array>,
  length: number | undefined,
  text: string,
  { minor }: ResponseContext,
): Promise<void> {
  // "HTTP/1.0 knows no Transfer-Encoding": there the end of the connection is the end of the body.
  const chunked = length === undefined && minor === 1;
  let rest = length ?? Infinity;
  let head = chunked ? `${text}Transfer-Encoding: chunked\r\n\r\n` : `${text}\r\n`;
  let reading = readPiece(body);
  for (;;) {
    const { done, value: piece = NOTHING } = await reading;
    // The next piece is read while this one is sent.
    if (!done) reading = readPiece(body);
    rest -= piece.length;
    if (rest < 0 || done && rest > 0 && rest !== Infinity) {
      throw new BrokenBody("The body has another length");
    }
    const sending: MessagePart = { head, piece, chunked, isLast: done };
    if (head !== "" || piece.length > 0 || done && chunked) await client.send(sending);
    if (done) return;
    head = "";
  }
}

function readPiece(
  body: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  const reading = body.read().catch((cause: unknown) => {
    throw new BrokenBody("The body cannot be read", { cause });
  });
  // Where the client leaves first, nothing waits for it any more.
  reading.catch(() => {});
  return reading;
}

/** The status line and the headers, without those of the framing and the empty line. */
function headText({ status, headers }: Response, { closes }: ResponseContext): string {
  let text = `HTTP/1.1 ${status} ${REASONS[status] ?? ""}\r\n`;
  for (const [name, value] of headers) {
    if (!FRAMING.has(name)) text += `${name}: ${value}\r\n`;
  }
  if (!headers.has("date")) text += `date: ${new Date().toUTCString()}\r\n`;
  if (closes) text += "connection: close\r\n";
  return text;
}
