/** What a TLS client asks for in its first message (RFC 8446, 4.1.2). */
export interface ClientHello {
  /** The host name, in lower case (RFC 6066, 3); `undefined` if the client names none, as for an IP address. */
  serverName: string | undefined;
}

/** The longest first message that is read, in bytes. Those of browsers have 500 to 2000. */
export const MAX_CLIENT_HELLO = 16_384;

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** A read beyond the end of a message. */
class OutOfBytes extends Error {}

/**
 * Parses the ClientHello at the start of a connection.
 *
 * @returns `undefined` if more bytes are needed; `"malformed"` for bytes that are no ClientHello.
 */
export function parseClientHello(bytes: Uint8Array): ClientHello | "malformed" | undefined {
  const message = firstMessage(bytes);
  if (message === undefined || message === "malformed") return message;
  try {
    return { serverName: serverNameIn(extensionsOf(message).get(SERVER_NAME)?.block(2)) };
  } catch (error) {
    if (error instanceof OutOfBytes) return "malformed";
    throw error;
  }
}

/**
 * Returns the first handshake message of a connection, without its records.
 *
 * @returns `undefined` if more bytes are needed; `"malformed"` for bytes that are no ClientHello.
 */
function firstMessage(bytes: Uint8Array): Uint8Array | "malformed" | undefined {
  // Usually there is one record: nothing is copied before it is complete.
  const first = 5 + ((bytes[3] ?? 0) << 8 | (bytes[4] ?? 0));
  if (isHandshake(bytes, 0) && bytes.length < first) return undefined;
  const message = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    // A record: its type, two bytes of version, two of length.
    if (!isHandshake(bytes, at)) return "malformed";
    if (at + 5 > bytes.length) return undefined;
    const size = bytes[at + 3]! << 8 | bytes[at + 4]!;
    if (size === 0) return "malformed";
    const part = bytes.subarray(at + 5, at + 5 + size);
    message.set(part, length);
    length += part.length;
    at += 5 + size;
    if (length < 4) continue;
    if (message[0] !== CLIENT_HELLO) return "malformed";
    const end = 4 + (message[1]! << 16 | message[2]! << 8 | message[3]!);
    if (end > MAX_CLIENT_HELLO) return "malformed";
    if (length >= end) return message.subarray(0, end);
  }
  return undefined;
}

/** Returns whether a record of the handshake may begin at a position, as far as its bytes have arrived. */
function isHandshake(bytes: Uint8Array, at: number): boolean {
  return (bytes[at] ?? HANDSHAKE_RECORD) === HANDSHAKE_RECORD && (bytes[at + 1] ?? 3) === 3;
}

/** Returns the contents of the extensions of a ClientHello, by type. @throws {OutOfBytes} */
function extensionsOf(message: Uint8Array): Map<number, Fields> {
  const hello = new Fields(message);
  // The type and the length of the message, the version, and the random bytes.
  hello.skip(4 + 2 + 32);
  // The session, the cipher suites and the compression methods.
  hello.block(1);
  hello.block(2);
  hello.block(1);
  const extensions = new Map<number, Fields>();
  const list = hello.isEmpty ? hello : hello.block(2);
  while (!list.isEmpty) extensions.set(list.number(2), list.block(2));
  return extensions;
}

function serverNameIn(names: Fields | undefined): string | undefined {
  while (names !== undefined && !names.isEmpty) {
    const type = names.number(1);
    const name = names.block(2).text().toLowerCase();
    if (type === HOST_NAME) return name.endsWith(".") ? name.slice(0, -1) : name;
  }
  return undefined;
}

/** Reads the fields of a message in order. */
class Fields {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get isEmpty(): boolean {
    return this.#at === this.bytes.length;
  }

  /** Reads a number of 1 or 2 bytes. @throws {OutOfBytes} */
  number(size: 1 | 2): number {
    return this.#take(size).reduce((number, byte) => number << 8 | byte, 0);
  }

  /** Reads a block behind its length. @throws {OutOfBytes} */
  block(lengthSize: 1 | 2): Fields {
    return new Fields(this.#take(this.number(lengthSize)));
  }

  /** @throws {OutOfBytes} */
  skip(count: number): void {
    this.#take(count);
  }

  /** Returns the bytes as text, one character per byte. */
  text(): string {
    return String.fromCharCode(...this.bytes);
  }

  #take(count: number): Uint8Array {
    const from = this.#at;
    this.#at += count;
    if (this.#at > this.bytes.length) throw new OutOfBytes();
    return this.bytes.subarray(from, this.#at);
  }
}
