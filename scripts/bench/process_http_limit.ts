/**
 * A process that answers every request with the same bytes from memory: what an HTTP server on Deno can do at the most.
 * It sends what is larger than a value of the store in pieces of that size, as a server that reads them has to.
 *
 * @module
 */

import { randomBytes } from "./server.ts";

/** The input of the process. */
export interface HttpLimitInput {
  /** Bytes of an answer. */
  size: number;
  /** Certificate and key as PEM, for a server over TLS. */
  tls?: { cert: string; key: string };
}

const HOSTNAME = "127.0.0.1";

/** Bytes of a piece. */
const PIECE = 65_536;

/** Older runtimes have no such option. */
const QUIET = { automaticCompression: false };

const encoder = new TextEncoder();

if (import.meta.main) {
  const { size, tls }: HttpLimitInput = JSON.parse(Deno.args[0] ?? "");
  const bytes = randomBytes(size);
  if (tls === undefined) serve(bytes);
  else await serveTls(bytes, tls);
}

function announce(scheme: string, port: number): void {
  Deno.stdout.writeSync(encoder.encode(`listening on ${scheme}://${HOSTNAME}:${port}\n`));
}

function serve(bytes: Uint8Array<ArrayBuffer>): void {
  const size = bytes.byteLength;
  const headers = { "Content-Type": "application/octet-stream", "Content-Length": String(size) };
  Deno.serve({
    port: 0,
    hostname: HOSTNAME,
    ...QUIET,
    onListen: ({ port }) => announce("http", port),
  }, () => new Response(size > PIECE ? streamOf(bytes) : bytes, { headers }));
}

/** Streams the bytes piece by piece, each when the one before has been taken. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at += PIECE));
      if (at >= bytes.byteLength) controller.close();
    },
  });
}

/**
 * Answers without a look at the requests. `Deno.serve` is no limit over TLS: it leaves Nagle's algorithm on, so that
 * each small answer waits 40 ms for the client's delayed acknowledgement.
 */
async function serveTls(
  bytes: Uint8Array,
  tls: NonNullable<HttpLimitInput["tls"]>,
): Promise<void> {
  const head = encoder.encode(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.byteLength}\r\n\r\n`);
  const first = new Uint8Array([...head, ...bytes.subarray(0, PIECE)]);
  const pieces = [first];
  for (let at = PIECE; at < bytes.byteLength; at += PIECE) {
    pieces.push(bytes.slice(at, at + PIECE));
  }
  const listener = Deno.listenTls({ port: 0, hostname: HOSTNAME, ...tls });
  announce("https", listener.addr.port);
  for await (const connection of listener) answerAll(connection, pieces);
}

/** Sends the pieces for each request, which fits into a TLS record. */
async function answerAll(connection: Deno.TlsConn, pieces: readonly Uint8Array[]): Promise<void> {
  using client = connection;
  const buffer = new Uint8Array(16_384);
  try {
    while (await client.read(buffer) !== null) {
      for (const piece of pieces) {
        for (let rest = piece; rest.byteLength > 0;) {
          rest = rest.subarray(await client.write(rest));
        }
      }
    }
  } catch (error) {
    // wrk closes its connections in the middle of an answer, and without an end of TLS.
    if (!isClosed(error)) throw error;
  }
}

function isClosed(error: unknown): boolean {
  return [
    Deno.errors.UnexpectedEof,
    Deno.errors.ConnectionReset,
    Deno.errors.BrokenPipe,
    Deno.errors.ConnectionAborted,
  ].some((kind) => error instanceof kind);
}
