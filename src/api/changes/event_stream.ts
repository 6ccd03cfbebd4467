/**
 * Callers that wait for changes, and the server-sent events that tell them.
 *
 * @module
 */
import { toHttpError } from "../../http/error_response.ts";
import { HttpResponse } from "../../http/responses/http_response.ts";
import { PieceStream, READER_PATIENCE } from "../../http/responses/response_stream.ts";
import { SECOND } from "../../rules/units.ts";
import type { Waiting } from "../../store/changes/change_signals.ts";
import type { DriveCall } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";

export const EVENT_STREAM = "text/event-stream";

export const STREAM_HEADERS = {
  "Content-Type": EVENT_STREAM,
  "Cache-Control": "no-store",
  // nginx would collect events otherwise.
  "X-Accel-Buffering": "no",
} as const;

/** How often a stream without events sends a comment, in milliseconds. */
const COMMENT_INTERVAL = 15 * SECOND;

/** A caller that waits for changes, and its connection, which counts as idle meanwhile. */
export class Follower implements Disposable {
  readonly #connection: DriveCall["connection"];

  constructor({ connection }: DriveCall, private readonly waiting: Waiting) {
    this.#connection = connection;
    void connection?.left().then(() => waiting.end());
  }

  get hasEnded(): boolean {
    return this.waiting.hasEnded;
  }

  /** Reads what was waited for, together with others that ask the same. Later changes end the next wait. */
  async read<T>(key: string, read: () => Promise<T>): Promise<T> {
    this.waiting.reset();
    return await this.waiting.share(key, read);
  }

  async wait(time: number): Promise<void> {
    this.#connection?.setIdle();
    await this.waiting.next(time);
    this.#connection?.setBusy();
  }

  [Symbol.dispose](): void {
    this.waiting[Symbol.dispose]();
  }
}

/** Events as they are sent, which may be none, and whether there are more now. */
interface Events {
  text: string;
  more: boolean;
}

/** What a stream sends. */
interface EventSource {
  /** Sent at once: the head of the response is sent with it. */
  head: string;
  /** Returns the next events. */
  read: () => Promise<Events>;
}

/** Answers with server-sent events, which end when the server shuts down or the sender is no longer authorized. */
export function eventStream(
  call: DriveCall,
  { idleTimeout, onError }: Pick<Deps, "idleTimeout" | "onError">,
  follower: Follower,
  source: EventSource,
): Response {
  const { context, requestId } = call;
  const body = new PieceStream(piecesOf(call, follower, source), {
    idle: idleTimeout * READER_PATIENCE,
    onEnd: () => follower[Symbol.dispose](),
    onError: (error) => onError(error, requestId),
    context,
  });
  return new HttpResponse(body, { headers: STREAM_HEADERS });
}

const encoder = new TextEncoder();

async function* piecesOf(
  call: DriveCall,
  follower: Follower,
  source: EventSource,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield encoder.encode(source.head);
  let commented = performance.now();
  while (!follower.hasEnded) {
    const events = await readAuthorized(call, source);
    if (events === undefined) return;
    if (events.text !== "") {
      yield encoder.encode(events.text);
      commented = performance.now();
    }
    if (events.more) continue;
    await follower.wait(Math.max(0, commented + COMMENT_INTERVAL - performance.now()));
    if (performance.now() < commented + COMMENT_INTERVAL || follower.hasEnded) continue;
    yield encoder.encode(":\n\n");
    commented = performance.now();
  }
}

/** Returns the next events; `undefined` if the caller may not go on: the next request tells why. */
async function readAuthorized(
  { reauthorize }: DriveCall,
  { read }: EventSource,
): Promise<Events | undefined> {
  try {
    const events = await read();
    await reauthorize();
    return events;
  } catch (error) {
    if (toHttpError(error).status < 500) return undefined;
    throw error;
  }
}
