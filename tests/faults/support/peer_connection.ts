import { deadline } from "@std/async/deadline";
import type { Answer } from "../../support/answer.ts";
import { joinBytes } from "../../support/bookkeeping.ts";
import { utf8 } from "../../support/bytes.ts";
import { PeerAnswer } from "./peer_answer.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** How long an answer may take. */
const PATIENCE = 20_000;

/** A TCP connection on which a test says what it wants, also what no HTTP client would say. */
export class Connection implements Disposable {
  /** Whether the server has ended the connection, or said that it will. */
  ended = false;
  private rest: Bytes = new Uint8Array();

  private constructor(private readonly socket: Deno.TcpConn) {}

  static async open(port: number): Promise<Connection> {
    return new Connection(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Sends all of it; gives whether the server took all of it before it hung up. */
  async send(data: string | Uint8Array): Promise<boolean> {
    const bytes = typeof data === "string" ? utf8(data) : data;
    try {
      for (let sent = 0; sent < bytes.length;) {
        sent += await this.socket.write(bytes.subarray(sent));
      }
      return true;
    } catch (error) {
      if (!isHangUp(error)) throw error;
      return false;
    }
  }

  /** Says that no more will come. */
  async sendEnd(): Promise<void> {
    try {
      await this.socket.closeWrite();
    } catch (error) {
      if (!isHangUp(error)) throw error;
    }
  }

  /** The next answer; `undefined` where the server ends the connection instead. */
  async answer(toHead = false): Promise<Answer | undefined> {
    return await deadline(this.readAnswer(toHead), PATIENCE);
  }

  /** Gives whatever comes until the server ends the connection. */
  async readToEnd(): Promise<Bytes> {
    const pieces = [this.rest];
    this.rest = new Uint8Array();
    const read = async () => {
      for (let piece = await this.read(); piece !== null; piece = await this.read()) {
        pieces.push(piece);
      }
    };
    await deadline(read(), PATIENCE);
    return joinBytes(pieces);
  }

  /** One read of up to 64 KiB; `null` where the server has ended the connection. */
  async read(): Promise<Bytes | null> {
    const buffer = new Uint8Array(65_536);
    try {
      const count = await this.socket.read(buffer);
      if (count !== null) return buffer.subarray(0, count);
    } catch (error) {
      if (!isHangUp(error)) throw error;
    }
    this.ended = true;
    return null;
  }

  private async readAnswer(toHead: boolean): Promise<Answer | undefined> {
    const parser = new PeerAnswer(toHead);
    let piece: Bytes | null = this.rest;
    this.rest = new Uint8Array();
    for (; piece !== null; piece = await this.read()) {
      if (!parser.take(piece)) continue;
      this.rest = parser.rest;
      break;
    }
    const answer = parser.finish();
    if (/\bclose\b/i.test(answer?.headers.get("Connection") ?? "")) this.ended = true;
    return answer;
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }
}

function isHangUp(error: unknown): boolean {
  const { ConnectionReset, BrokenPipe, NotConnected, ConnectionAborted } = Deno.errors;
  return error instanceof ConnectionReset || error instanceof BrokenPipe ||
    error instanceof NotConnected || error instanceof ConnectionAborted;
}
