import { deadline } from "@std/async/deadline";
import { Answer } from "./answer.ts";
import { utf8 } from "./bytes.ts";
import { checkRawAnswer } from "./openapi/watch.ts";
import { newAddressHeader, PROJECT_KEY } from "./server.ts";

/**
 * A request line and headers as they stand: `fetch` folds `..`, repairs targets and adds headers.
 * A header given as `null` is left out.
 */
export function rawRequest(
  method: string,
  target: string,
  headers: Record<string, string | null> = {},
  body = "",
): string {
  const all: Record<string, string | null> = {
    "Host": "localhost",
    "Connection": "close",
    "X-Api-Key": PROJECT_KEY,
    ...newAddressHeader(headers["X-Api-Key"]),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([k, v]) => v === null ? [] : [`${k}: ${v}`]);
  return [`${method} ${target} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** Sends bytes over TCP and reads the one answer. */
export async function sendRaw(port: number, request: string): Promise<Answer> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await writeAll(connection, utf8(request));
  const answer = await deadline(readAnswer(connection, request.startsWith("HEAD ")), 28_000);
  await checkRawAnswer(port, request, answer);
  return answer;
}

/** Sends bytes over TCP and leaves at once, as a client does that loses its network. */
export async function sendAndDisconnect(port: number, request: string): Promise<void> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await writeAll(connection, utf8(request));
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

/**
 * Reads until the connection ends, or until the body has the length that was told: a server that
 * answers early may leave the connection open for a body that never comes.
 */
async function readAnswer(connection: Deno.TcpConn, toHead: boolean): Promise<Answer> {
  let bytes = new Uint8Array();
  const buffer = new Uint8Array(65_536);
  for (;;) {
    const count = await connection.read(buffer);
    bytes = new Uint8Array(await new Blob([bytes, buffer.slice(0, count ?? 0)]).arrayBuffer());
    const answer = parse(bytes);
    if (count === null && answer === undefined) throw new Error("The answer has no whole head");
    if (answer === undefined) continue;
    const length = Number(answer.headers.get("Content-Length") ?? Infinity);
    if (count === null || !toHead && answer.bytes.length >= length) return answer;
  }
}

/** @returns `undefined` while the head is incomplete. */
function parse(bytes: Uint8Array<ArrayBuffer>): Answer | undefined {
  const latin1 = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const end = latin1.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine = "", ...lines] = latin1.slice(0, end).split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  return new Answer(status, headers, bytes.slice(end + 4));
}

/**
 * Announces a body, sends only its beginning, and closes the sending side. Waits until the
 * server has hung up, so that it has certainly seen the end.
 */
export async function sendTruncatedBody(
  port: number,
  target: string,
  announced: number,
  sent: Uint8Array,
): Promise<void> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const head = [
    `POST ${target} HTTP/1.1`,
    "Host: localhost",
    `X-Api-Key: ${PROJECT_KEY}`,
    `Content-Length: ${announced}`,
    "",
    "",
  ].join("\r\n");
  await writeBytes(connection, new TextEncoder().encode(head));
  await writeBytes(connection, sent);
  await connection.closeWrite();
  await readToEnd(connection);
}

async function writeBytes(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

async function readToEnd(connection: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(65_536);
  try {
    while (await connection.read(buffer) !== null);
  } catch (error) {
    // A server may also reset a connection whose body it never read.
    if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
  }
}
