import { assert } from "@std/assert";
import { PIECE } from "./bytes.ts";
import { joinBytes } from "./drive.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A request body that stops half-way until the test opens the gate. */
export class GatedBody {
  /** Settles when all before the gate is on its way and the sender asks for more. */
  readonly halfSent: Promise<void>;
  readonly stream: ReadableStream<Bytes>;
  private readonly reached = Promise.withResolvers<void>();
  private readonly gate = Promise.withResolvers<void>();

  constructor(private readonly bytes: Bytes, private readonly stopAt = bytes.length >> 1) {
    this.halfSent = this.reached.promise;
    let offset = 0;
    this.stream = new ReadableStream({
      pull: async (controller) => {
        if (offset === this.stopAt) await this.waitAtGate();
        const end = this.endOfPiece(offset);
        if (end > offset) controller.enqueue(this.bytes.slice(offset, end));
        else controller.close();
        offset = end;
      },
    }, { highWaterMark: 0 });
  }

  open(): void {
    this.gate.resolve();
  }

  /** Disconnects the sender: the request fails, and its promise rejects. */
  breakOff(): void {
    this.gate.reject(new Error("The sender left"));
  }

  private async waitAtGate(): Promise<void> {
    this.reached.resolve();
    await this.gate.promise;
  }

  private endOfPiece(offset: number): number {
    const stop = offset < this.stopAt ? this.stopAt : this.bytes.length;
    return Math.min(offset + PIECE, stop);
  }
}

/** A download of which only the beginning has been read; the rest waits for the reader. */
export class PacedDownload {
  private constructor(
    readonly response: Response,
    private readonly reader: ReadableStreamDefaultReader<Bytes>,
    private readonly pieces: Bytes[],
  ) {}

  /** Reads the first piece, so that the answer is certainly on its way. */
  static async begin(response: Response): Promise<PacedDownload> {
    assert(response.ok && response.body !== null, `Status ${response.status}`);
    const reader = response.body.getReader();
    const { value } = await reader.read();
    return new PacedDownload(response, reader, value === undefined ? [] : [value]);
  }

  /** Reads the rest. @returns all bytes; fails if the connection breaks. */
  async finish(): Promise<Bytes> {
    for (;;) {
      const { value, done } = await this.reader.read();
      if (done) return joinBytes(this.pieces);
      this.pieces.push(value);
    }
  }

  async cancel(): Promise<void> {
    await this.reader.cancel();
  }
}
