/**
 * The request to a receiver: one connection, which is closed afterwards. Redirects are not followed, and of the response
 * nothing is kept but its status and the beginning of its body.
 *
 * A host name is resolved here, and the connection goes to an address that was judged, so a name that resolves to another
 * one the next time leads nowhere.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import { type Target, targetOf, type UpstreamRules } from "../http/network/upstream_rules.ts";
import { bodyReader, responseFraming } from "../http1/body.ts";
import { Connection, ConnectionLost } from "../http1/connection.ts";
import { MalformedMessage } from "../http1/headers.ts";
import { parseResponseHead, readHead, type ResponseHead } from "../http1/message_head.ts";
import { secureClient } from "../http1/tls/tls.ts";
import { KIB, SECOND } from "../rules/units.ts";

/** "2xx within 10 s accepts" */
export const RESPONSE_TIME = 10 * SECOND;

/** How much of a body is read for a test, in bytes. */
const MAX_BODY = 4 * KIB;

/** How long that may take, in milliseconds after the head. */
const BODY_TIME = 2 * SECOND;

/** Interim responses (1xx). */
const MAX_INTERIM = 16;

/** What came back from a receiver. */
export interface Answer {
  /** The status of the response; absent if there was none in time. */
  status?: number;
  /** Why there was none, as the end of a sentence. */
  problem?: string;
  /** The beginning of the body, if it was wanted. */
  body: string;
  /** Milliseconds. */
  duration: number;
}

export interface Delivery {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Whether the beginning of the response's body is wanted. */
  wantsBody?: boolean;
}

export function isAccepted({ status = 0 }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** There is no connection to an address. The message is the end of a sentence. */
class NoConnection extends Error {}

/** Sends a message, and waits for the head of the response. Never throws. @param signal Ends it early. */
export async function deliver(
  delivery: Delivery,
  rules: UpstreamRules,
  signal: AbortSignal,
): Promise<Answer> {
  const began = performance.now();
  const duration = () => Math.round(performance.now() - began);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), RESPONSE_TIME);
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    aborted.catch(() => {});
    either.addEventListener("abort", () => reject(new NoConnection("was given up")));
    either.throwIfAborted();
    // Looking up a host cannot be interrupted.
    const onHead = () => clearTimeout(timer);
    const answer = await Promise.race([aborted, exchange(delivery, rules, either, onHead)]);
    return { ...answer, duration: duration() };
  } catch (error) {
    const problem = deadline.signal.aborted
      ? `did not answer within ${RESPONSE_TIME / SECOND} s`
      : problemOf(error);
    return { problem, body: "", duration: duration() };
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  { url, headers, body, wantsBody = false }: Delivery,
  rules: UpstreamRules,
  signal: AbortSignal,
  onHead: () => void,
): Promise<Pick<Answer, "status" | "body">> {
  using connection = await connect(url, rules, signal);
  const { reader } = connection.plain;
  // A receiver may answer before it has read everything.
  const sending = connection.plain.send({
    head: headOf(url, headers, body.byteLength),
    piece: body,
    chunked: false,
    isLast: true,
  });
  sending.catch(() => {});
  for (let count = 0; count <= MAX_INTERIM; count++) {
    const head = await readHead(reader);
    if (head === undefined) throw new ConnectionLost("The connection ended before a response");
    const response = parseResponseHead(head);
    const { status } = response;
    if (status < 200) continue;
    onHead();
    return { status, body: wantsBody ? await beginningOf(connection.plain, response) : "" };
  }
  throw new MalformedMessage("it has too many interim responses");
}

/** Returns what arrives of a body within a short time: it matters to no one but a person who looks for an error. */
async function beginningOf(connection: Connection, response: ResponseHead): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const timer = setTimeout(() => connection.close(), BODY_TIME);
  try {
    const body = bodyReader(connection.reader, responseFraming("POST", response));
    while (size < MAX_BODY) {
      const piece = body.take().slice(0, MAX_BODY - size);
      pieces.push(piece);
      size += piece.length;
      if (body.isDone || size >= MAX_BODY || !await connection.reader.fill()) break;
    }
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
  } finally {
    clearTimeout(timer);
  }
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("");
}

function headOf(url: string, headers: Delivery["headers"], length: number): string {
  const { pathname, search, host } = new URL(url);
  return [
    `POST ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    "User-Agent: kvdrive",
    "Content-Type: application/json",
    `Content-Length: ${length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "",
    "",
  ].join("\r\n");
}

/** A connection that is closed with the block that uses it, or when the signal is aborted. */
interface Opened extends Disposable {
  plain: Connection;
}

async function connect(url: string, rules: UpstreamRules, signal: AbortSignal): Promise<Opened> {
  const target = targetOf(url);
  const problem = rules.problemOf(url);
  if (problem !== undefined) throw new NoConnection(problem);
  const isSecure = new URL(url).protocol === "https:";
  let failure: unknown = new NoConnection(FORBIDDEN);
  for (const hostname of await addressesOf(target)) {
    signal.throwIfAborted();
    if (!rules.allowsAddress(target, hostname)) continue;
    try {
      const tcp = await Deno.connect({ hostname, port: target.port, signal });
      if (!rules.allows(target, tcp)) {
        tcp.close();
        continue;
      }
      tcp.setNoDelay(true);
      const plain = new Connection(
        isSecure ? await secureClient(tcp, target.hostname, signal) : tcp,
      );
      const close = () => plain.close();
      signal.addEventListener("abort", close);
      return {
        plain,
        [Symbol.dispose]: () => {
          signal.removeEventListener("abort", close);
          plain.close();
        },
      };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

const FORBIDDEN =
  "leads to an address that webhooks may not call: only --allow-webhook allows that";

async function addressesOf({ hostname }: Target): Promise<string[]> {
  try {
    const found = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true });
    return found.map(({ address }) => address);
  } catch (cause) {
    throw new NoConnection("has a host name that cannot be resolved", { cause });
  }
}

/** Returns why there is no response, as the end of a sentence, without what only the system says. */
function problemOf(error: unknown): string {
  if (error instanceof NoConnection) return error.message;
  if (error instanceof MalformedMessage) return `answered with something else than HTTP/1.1`;
  if (error instanceof ConnectionLost) return "closed the connection without an answer";
  if (error instanceof Deno.errors.ConnectionRefused) return "refused the connection";
  if (error instanceof Deno.errors.InvalidData) {
    return "has no certificate that this server trusts for its name";
  }
  return "cannot be reached";
}
