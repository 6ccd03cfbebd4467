import { type BodyReader, isFullyReceived } from "./body.ts";
import type { ClientConnection } from "./client_connection.ts";
import { ConnectionLost, CONTINUE } from "./connection.ts";
import type { IoTurns } from "./io_turns.ts";
import type { Header } from "./headers.ts";
import type { RequestHead } from "./message_head.ts";

type Piece = Uint8Array<ArrayBuffer>;

export interface RequestParts {
  head: RequestHead;
  /** The absolute URL, with the path and query that were received. */
  url: string;
  body: IncomingBody | undefined;
}

/** The URL passed to the constructor of `Request`, which would resolve `..` in paths and rejects the method `TRACE`. */
const PLACEHOLDER_URL = "http://localhost/";

/**
 * A received request. Unlike a plain `Request`, it keeps method and URL unchanged. Its body is read by `pieces` only: the
 * runtime's own methods see none.
 */
export class IncomingRequest extends Request {
  readonly #head: RequestHead;
  readonly #url: string;
  readonly #headers: Headers;
  /** Reads the body without a stream of the runtime. */
  readonly pieces: IncomingBody | undefined;

  constructor({ head, url, body }: RequestParts) {
    super(PLACEHOLDER_URL);
    this.#head = head;
    this.#url = url;
    const fields = head.headers.map(({ name, value }): [string, string] => [name, value]);
    this.#headers = new Headers(fields);
    this.pieces = body;
  }

  override get method(): string {
    return this.#head.method;
  }

  override get url(): string {
    return this.#url;
  }

  /** The header lines as they were received: `Headers` joins those of the same name, and is slow to iterate. */
  get lines(): readonly Header[] {
    return this.#head.headers;
  }

  override get headers(): Headers {
    return this.#headers;
  }
}

interface IncomingBodyParts {
  client: ClientConnection;
  body: BodyReader;
  turns: IoTurns;
  /** Whether the client waits for "100 Continue" before it sends the body. */
  expectsContinue: boolean;
}

/** A request's body, which is read from the connection on demand only. */
export class IncomingBody {
  #sendsContinue: boolean;
  #isFinished = false;
  /** Bytes since the last turn. */
  #taken = 0;

  constructor(private readonly deps: IncomingBodyParts) {
    const { expectsContinue } = deps;
    this.#sendsContinue = expectsContinue;
  }

  /**
   * Returns the next bytes; `undefined` at the end. The result is a promise only if no bytes have arrived.
   *
   * @throws {ConnectionLost} if the client leaves before the end, or was answered already.
   * @throws {MalformedMessage}
   */
  next(): Piece | undefined | Promise<Piece | undefined> {
    const piece = this.#take();
    return piece ?? (this.deps.body.isDone ? undefined : this.#wait());
  }

  /** Stops reading. */
  cancel(): Promise<void> {
    this.#isFinished = true;
    return Promise.resolve();
  }

  /** Stops reading. Returns whether the whole body was received, so that the next request can follow. */
  finish(): boolean {
    this.#isFinished = true;
    return !this.#sendsContinue && isFullyReceived(this.deps.body);
  }

  /**
   * Returns the bytes that have arrived, if there are any: a copy, as the connection reuses its buffer and callers may keep
   * what they got.
   */
  #take(): Piece | undefined {
    if (this.#isFinished) throw new ConnectionLost("The request was already answered");
    const piece = this.deps.body.take();
    this.#taken += piece.length;
    return piece.length > 0 ? new Uint8Array(piece) : undefined;
  }

  async #wait(): Promise<Piece | undefined> {
    for (;;) {
      await this.#takeTurn();
      await this.#fill();
      const piece = this.#take();
      if (piece !== undefined || this.deps.body.isDone) return piece;
    }
  }

  /** Lets other connections in before more is read. Costs nothing before the second piece of a body. */
  async #takeTurn(): Promise<void> {
    if (this.#taken === 0) return;
    const turn = this.deps.turns.take(this.#taken);
    this.#taken = 0;
    if (turn === undefined) return;
    await turn;
    if (this.#isFinished) throw new ConnectionLost("The request was already answered");
  }

  /** @throws {ConnectionLost} if the client leaves before the end. */
  async #fill(): Promise<void> {
    const client = this.deps.client;
    const { reader } = client.connection;
    if (this.#sendsContinue) {
      this.#sendsContinue = false;
      if (reader.length === 0) await client.write(CONTINUE);
    }
    // The handler limits how long the body may stall, as it sends the response in that case.
    client.expectBytes(Infinity);
    const hasMore = await reader.fill();
    if (this.#isFinished) throw new ConnectionLost("The request was already answered");
    client.expectNothing();
    if (!hasMore) throw new ConnectionLost("The body is incomplete");
  }
}
