import type { BodyReader } from "./body_reader.ts";
import type { Client } from "./client.ts";
import { ConnectionLost } from "./wire.ts";

type Piece = Uint8Array<ArrayBuffer>;

const CONTINUE = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

/** The body of a request as a stream, which reads from the connection only when a piece is asked for. */
export class IncomingBody {
  readonly stream: ReadableStream<Piece>;
  readonly #client: Client;
  readonly #body: BodyReader;
  #isContinueDue: boolean;
  #isOver = false;

  /** @param expectsContinue Whether the client waits for "100 Continue" before it sends the body. */
  constructor(client: Client, body: BodyReader, expectsContinue: boolean) {
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
      if (client.wire.reader.length === 0) await client.write(CONTINUE);
    }
    // How long the body may be silent is for the handler to say: it is the one that answers.
    client.expectBytes(Infinity);
    const more = await client.wire.reader.fill();
    if (this.#isOver) throw new ConnectionLost("The request was answered already");
    client.expectNothing();
    if (!more) throw new ConnectionLost("The body is not complete");
  }
}
