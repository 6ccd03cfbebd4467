import { assert } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { assertErrorCode } from "../openapi/error_codes.ts";

/** How long anything may take that should happen at once. */
const SOON = 28_000;

/** An answer as it came, one character a byte. */
export interface RawAnswer {
  status: number;
  /** `Name: value`, in their order. */
  lines: string[];
  /** The body, without its chunks' frames. */
  body: string;
  header(name: string): string | undefined;
}

/** A connection over which a test sends exactly the bytes that it wants to, and reads answers. */
export class RawClient implements Disposable {
  private received = "";
  private isOver = false;

  private constructor(private readonly connection: Deno.Conn) {}

  static async connect(port: number): Promise<RawClient> {
    return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** A client on a connection that is open already. */
  static over(connection: Deno.Conn): RawClient {
    return new RawClient(connection);
  }

  async send(text: string): Promise<void> {
    await this.sendBytes(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  }

  async sendBytes(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.connection.write(bytes.subarray(sent));
    }
  }

  /** Says that nothing more comes. */
  async end(): Promise<void> {
    await this.connection.closeWrite();
  }

  /** Reads the next answer, and only that. */
  async readAnswer(method = "GET"): Promise<RawAnswer> {
    const { status, lines, header } = await this.readHead();
    const body = method === "HEAD" || status === 204 || status === 304 || status < 200
      ? ""
      : await this.readBody(header);
    assertErrorCode(status, body);
    return { status, lines, header, body };
  }

  async readHead(): Promise<Omit<RawAnswer, "body">> {
    const head = await this.readThrough("\r\n\r\n");
    const [first = "", ...lines] = head.slice(0, -4).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1]);
    assert(status > 0, `No status: ${first}`);
    const header = (name: string) => {
      const start = `${name.toLowerCase()}:`;
      const line = lines.find((one) => one.toLowerCase().startsWith(start));
      return line?.slice(start.length).trim();
    };
    return { status, lines, header };
  }

  /** Reads the next chunk of a body, without its frame. */
  async readChunk(): Promise<string> {
    const size = Number.parseInt(await this.readThrough("\r\n"), 16);
    const chunk = await this.readExactly(size);
    await this.readThrough("\r\n");
    return chunk;
  }

  async readExactly(count: number): Promise<string> {
    while (this.received.length < count) await this.more();
    return this.taken(count);
  }

  /** Everything up to the end of the connection, however it ends. */
  async readToEnd(): Promise<string> {
    while (!this.isOver) await this.receive();
    return this.taken(this.received.length);
  }

  private async readBody(header: RawAnswer["header"]): Promise<string> {
    if (header("transfer-encoding") === "chunked") {
      let body = "";
      for (;;) {
        const chunk = await this.readChunk();
        if (chunk === "") return body;
        body += chunk;
      }
    }
    const length = header("content-length");
    return length === undefined ? await this.readToEnd() : await this.readExactly(Number(length));
  }

  private async readThrough(end: string): Promise<string> {
    let at = this.received.indexOf(end);
    while (at === -1) {
      await this.more();
      at = this.received.indexOf(end);
    }
    return this.taken(at + end.length);
  }

  private taken(count: number): string {
    const text = this.received.slice(0, count);
    this.received = this.received.slice(count);
    return text;
  }

  private async more(): Promise<void> {
    await this.receive();
    assert(!this.isOver, `The connection ended too early, behind ${JSON.stringify(this.received)}`);
  }

  private async receive(): Promise<void> {
    const buffer = new Uint8Array(65_536);
    let count: number | null = null;
    try {
      count = await deadline(this.connection.read(buffer), SOON);
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
    }
    if (count === null) this.isOver = true;
    else this.received += latin1(buffer.subarray(0, count));
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }
}

export function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  }
  return text;
}
