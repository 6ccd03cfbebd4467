/** What a TLS client asks for in its first message (RFC 8446, 4.1.2). */
export interface ClientHello {
  /** The host name, in lower case (RFC 6066, 3); `undefined` if the client names none, as for an IP address. */
  serverName: string | undefined;
  /** The application protocols that the client offers (RFC 7301). */
  protocols: readonly string[];
}

/** The longest first message that is read, in bytes. Those of browsers have 500 to 2000. */
export const MAX_CLIENT_HELLO = 16_384;

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const PROTOCOLS = 16;
const HOST_NAME = 0;

/** A read beyond the end of a message. */
class OutOfBytes extends Error {}

/**
 * Parses the ClientHello at the start of a connection.
 *
 * @returns `undefined` if more bytes are needed; `"malformed"` for bytes that are no ClientHello.
 */
export function parseClientHello(bytes: Uint8Array): ClientHello | "malformed" | undefined {
  const message = handshakeMessage(bytes);
  if (message === undefined || message === "malformed") return message;
  try {
    return parseMessage(new Fields(message));
  } catch (error) {
    if (error instanceof OutOfBytes) return "malformed";
    throw error;
  }
}

/** Joins the records of the first handshake message. */
function handshakeMessage(bytes: Uint8Array): Uint8Array | "malformed" | undefined {
  // Usually there is one record: nothing is copied before it is complete.
  const first = 5 + ((bytes[3] ?? 0) << 8 | (bytes[4] ?? 0));
  if (bytes[0] === HANDSHAKE_RECORD && bytes.length < first) return undefined;
  const message = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    // A record: its type, two bytes of version, two of length.
    if (bytes[at] !== HANDSHAKE_RECORD || (bytes[at + 1] ?? 3) !== 3) return "malformed";
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
    if (length >= end) return message.subarray(4, end);
  }
  return undefined;
}

function parseMessage(hello: Fields): ClientHello {
  // The version, the random bytes, the session, the cipher suites, the compression methods.
  hello.skip(2 + 32);
  hello.block(1);
  hello.block(2);
  hello.block(1);
  let serverName: string | undefined;
  let protocols: string[] = [];
  const extensions = hello.isEmpty ? hello : hello.block(2);
  while (!extensions.isEmpty) {
    const type = extensions.number(2);
    const content = extensions.block(2);
    if (type === SERVER_NAME) serverName = hostNameIn(content.block(2));
    if (type === PROTOCOLS) protocols = textsIn(content.block(2));
  }
  return { serverName, protocols };
}

function hostNameIn(names: Fields): string | undefined {
  while (!names.isEmpty) {
    const type = names.number(1);
    const name = names.block(2).text().toLowerCase();
    if (type === HOST_NAME) return name.endsWith(".") ? name.slice(0, -1) : name;
  }
  return undefined;
}

function textsIn(list: Fields): string[] {
  const texts: string[] = [];
  while (!list.isEmpty) texts.push(list.block(1).text());
  return texts;
}

/** Reads the fields of a message in order. */
class Fields {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at === this.#bytes.length;
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
    return String.fromCharCode(...this.#bytes);
  }

  #take(count: number): Uint8Array {
    const from = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new OutOfBytes();
    return this.#bytes.subarray(from, this.#at);
  }
}
