import type { BodyReader } from "./body.ts";
import type { ClientConnection } from "./client_connection.ts";
import { ConnectionLost } from "./connection.ts";
import type { RequestHead } from "./message_head.ts";

export interface RequestParts {
  head: RequestHead;
  /** The whole address, with path and query as they came. */
  url: string;
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
}

/** What the platform's own constructor gets: it would fold `..` in paths, and know no method `TRACE`. */
const ANY_URL = "http://localhost/";

/** A request as it came over a connection: method and address are not changed in any way. */
export class IncomingRequest extends Request {
  readonly #head: RequestHead;
  readonly #url: string;
  readonly #headers: Headers;
  readonly #body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  #ending: AbortController | undefined;

  constructor({ head, url, body }: RequestParts) {
    super(ANY_URL);
    this.#head = head;
    this.#url = url;
    this.#headers = new Headers(head.fields.map(({ name, value }) => [name, value]));
    this.#body = body;
  }

  override get method(): string {
    return this.#head.method;
  }

  override get url(): string {
    return this.#url;
  }

  override get headers(): Headers {
    return this.#headers;
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#body;
  }

  override get bodyUsed(): boolean {
    return this.#body?.locked ?? false;
  }

  /** Aborted when the connection ends before the answer has left. */
  override get signal(): AbortSignal {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#asResponse().arrayBuffer();
  }

  override blob(): Promise<Blob> {
    return this.#asResponse().blob();
  }

  override bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#asResponse().bytes();
  }

  override formData(): Promise<FormData> {
    return this.#asResponse().formData();
  }

  override json(): Promise<unknown> {
    return this.#asResponse().json();
  }

  override text(): Promise<string> {
    return this.#asResponse().text();
  }

  /** To be called when the connection has ended before the answer has left. */
  abort(reason: unknown): void {
    this.#ending?.abort(reason);
  }

  #asResponse(): Response {
    return new Response(this.#body, { headers: this.#headers });
  }
}

type Piece = Uint8Array<ArrayBuffer>;

const CONTINUE = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

/** The body of a request as a stream, which reads from the connection only when a piece is asked for. */
export class IncomingBody {
  readonly stream: ReadableStream<Piece>;
  readonly #client: ClientConnection;
  readonly #body: BodyReader;
  #isContinueDue: boolean;
  #isOver = false;

  /** @param expectsContinue Whether the client waits for "100 Continue" before it sends the body. */
  constructor(client: ClientConnection, body: BodyReader, expectsContinue: boolean) {
    this.#client = client;
    this.#body = body;
    this.#isContinueDue = expectsContinue;
    this.stream = new ReadableStream<Piece>({
      pull: (controller) => this.#pull(controller),
      cancel: () => void (this.#isOver = true),
    }, { highWaterMark: 0 });
  }

  /** Ends the reading. Gives whether the next request can follow, because nothing of the body is still to come. */
  finish(): boolean {
    this.#isOver = true;
    if (this.#isContinueDue) return false;
    try {
      this.#body.take();
      return this.#body.isDone;
    } catch {
      return false;
    }
  }

  async #pull(controller: ReadableStreamDefaultController<Piece>): Promise<void> {
    for (;;) {
      if (this.#isOver) throw new ConnectionLost("The request was answered already");
      const piece = this.#body.take();
      // The reader uses its bytes again.
      if (piece.length > 0) controller.enqueue(new Uint8Array(piece));
      if (this.#body.isDone) controller.close();
      if (this.#body.isDone || piece.length > 0) return;
      await this.#fill();
    }
  }

  /** @throws {ConnectionLost} where the client left before the end. */
  async #fill(): Promise<void> {
    const client = this.#client;
    if (this.#isContinueDue) {
      this.#isContinueDue = false;
      if (client.connection.reader.length === 0) await client.write(CONTINUE);
    }
    // How long the body may be silent is for the handler to say: it is the one that answers.
    client.expectBytes(Infinity);
    const more = await client.connection.reader.fill();
    if (this.#isOver) throw new ConnectionLost("The request was answered already");
    client.expectNothing();
    if (!more) throw new ConnectionLost("The body is not complete");
  }
}
