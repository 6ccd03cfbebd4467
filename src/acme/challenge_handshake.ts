import { Buffer } from "node:buffer";
import { createCipheriv, createHash, createHmac, sign } from "node:crypto";
import { firstMessage, type HelloFields, parseMessage } from "../http1/tls/client_hello.ts";
import type {
  HandshakeAnswer,
  RawConnection,
  TlsCertificate,
} from "../http1/tls/tls_certificates.ts";
import { CHALLENGE_PROTOCOL } from "./challenges.ts";

/** Types of records and of handshake messages (RFC 8446, 5.1 and 4). */
const ALERT = 21;
const HANDSHAKE = 22;
const ENCRYPTED = 23;
const SERVER_HELLO = 2;
const ENCRYPTED_EXTENSIONS = 8;
const CERTIFICATE = 11;
const CERTIFICATE_VERIFY = 15;
const FINISHED = 20;

/** Extensions (RFC 8446, 4.2). */
const PROTOCOLS = 16;
const SUPPORTED_VERSIONS = 43;
const KEY_SHARE = 51;

const LEGACY_VERSION = 0x0303;
const TLS_1_3 = 0x0304;
const AES_128_GCM_SHA256 = 0x1301;
const ECDSA_P256_SHA256 = 0x0403;
const X25519 = 0x001d;

/** A fatal alert: the client offers nothing that this handshake can use. */
const HANDSHAKE_FAILURE = Uint8Array.of(ALERT, 3, 3, 0, 2, 2, 40);

/** A record that middleboxes expect (RFC 8446, D.4). */
const CHANGE_CIPHER_SPEC = Uint8Array.of(20, 3, 3, 0, 1, 1);

const HASH_LENGTH = 32;

/**
 * Answers the handshakes of TLS-ALPN-01 (RFC 8737). They need a certificate with a critical extension of ACME, which
 * the runtime's TLS refuses to load. So this is the server's side of a handshake of TLS 1.3 (RFC 8446) with one cipher
 * suite and one key exchange, which every authority offers. No data follows it, and it proves the key of a certificate
 * that is good for nothing else.
 */
export class ChallengeHandshake implements HandshakeAnswer {
  readonly #certificate: Buffer;
  readonly #key: string;

  /** @param files The certificate of the challenge and its key, for ECDSA with P-256. */
  constructor({ cert, key }: TlsCertificate) {
    this.#certificate = Buffer.from(cert.replaceAll(/-----[^-]*-----|\s/g, ""), "base64");
    this.#key = key;
  }

  async answer(first: Uint8Array, client: RawConnection): Promise<void> {
    const flight = await this.#flight(first);
    await writeAll(client, flight ?? HANDSHAKE_FAILURE);
    if (flight !== undefined) await untilEnd(client);
  }

  /** Returns everything that the server sends; `undefined` if the client does not offer what is needed. */
  async #flight(first: Uint8Array): Promise<Uint8Array | undefined> {
    const message = firstMessage(first);
    if (message === undefined || message === "malformed") return undefined;
    const hello = parseMessage(message);
    const share = shareOf(hello);
    if (share === undefined || !offersSuite(hello)) return undefined;
    const { publicKey, secret } = await exchange(share);
    const transcript: Buffer[] = [Buffer.from(message)];
    const serverHello = handshake(SERVER_HELLO, helloBody(hello, publicKey));
    transcript.push(serverHello);
    const trafficSecret = handshakeSecret(secret, transcript);
    for (const part of [this.#extensions(), this.#certificateMessage()]) transcript.push(part);
    transcript.push(handshake(CERTIFICATE_VERIFY, this.#signature(transcript)));
    const finishedKey = expand(trafficSecret, "finished", HASH_LENGTH);
    transcript.push(handshake(FINISHED, hmac(finishedKey, hashOf(transcript))));
    return Buffer.concat([
      record(HANDSHAKE, serverHello),
      CHANGE_CIPHER_SPEC,
      encrypted(trafficSecret, Buffer.concat(transcript.slice(2))),
    ]);
  }

  #extensions(): Buffer {
    const protocols = vector(2, vector(1, Buffer.from(CHALLENGE_PROTOCOL)));
    return handshake(ENCRYPTED_EXTENSIONS, vector(2, number(2, PROTOCOLS), vector(2, protocols)));
  }

  #certificateMessage(): Buffer {
    const noContext = vector(1);
    const noExtensions = vector(2);
    return handshake(CERTIFICATE, noContext, vector(3, vector(3, this.#certificate), noExtensions));
  }

  /** Signs the handshake so far (RFC 8446, 4.4.3). */
  #signature(transcript: readonly Buffer[]): Buffer {
    const context = `${" ".repeat(64)}TLS 1.3, server CertificateVerify\0`;
    const content = Buffer.concat([Buffer.from(context), hashOf(transcript)]);
    return Buffer.concat([
      number(2, ECDSA_P256_SHA256),
      vector(2, sign("sha256", content, this.#key)),
    ]);
  }
}

/** Returns the client's public key for X25519; `undefined` without one, or without TLS 1.3. */
function shareOf({ extensions }: HelloFields): Uint8Array | undefined {
  const versions = extensions.get(SUPPORTED_VERSIONS)?.block(1);
  if (versions === undefined || !numbersIn(versions).includes(TLS_1_3)) return undefined;
  const shares = extensions.get(KEY_SHARE)?.block(2);
  while (shares !== undefined && !shares.isEmpty) {
    const group = shares.number(2);
    const { bytes } = shares.block(2);
    if (group === X25519 && bytes.length === 32) return bytes;
  }
  return undefined;
}

function offersSuite({ cipherSuites }: HelloFields): boolean {
  return numbersIn(cipherSuites).includes(AES_128_GCM_SHA256);
}

function numbersIn(list: HelloFields["cipherSuites"]): number[] {
  const numbers: number[] = [];
  while (!list.isEmpty) numbers.push(list.number(2));
  return numbers;
}

async function exchange(share: Uint8Array): Promise<{ publicKey: Buffer; secret: Buffer }> {
  const algorithm = { name: "X25519" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["deriveBits"]) as CryptoKeyPair;
  const theirs = await crypto.subtle.importKey("raw", share.slice(), algorithm, true, []);
  const secret = await crypto.subtle.deriveBits(
    { name: "X25519", public: theirs },
    keys.privateKey,
    256,
  );
  const publicKey = await crypto.subtle.exportKey("raw", keys.publicKey);
  return { publicKey: Buffer.from(publicKey), secret: Buffer.from(secret) };
}

function helloBody({ session }: HelloFields, publicKey: Buffer): Buffer {
  const version = [number(2, SUPPORTED_VERSIONS), vector(2, number(2, TLS_1_3))];
  const share = [number(2, KEY_SHARE), vector(2, number(2, X25519), vector(2, publicKey))];
  return Buffer.concat([
    number(2, LEGACY_VERSION),
    crypto.getRandomValues(new Uint8Array(32)),
    vector(1, session.bytes),
    number(2, AES_128_GCM_SHA256),
    number(1, 0),
    vector(2, ...version, ...share),
  ]);
}

/** The secret of what the server sends during the handshake (RFC 8446, 7.1). */
function handshakeSecret(shared: Buffer, transcript: readonly Buffer[]): Buffer {
  const zeros = Buffer.alloc(HASH_LENGTH);
  const derived = expand(hmac(zeros, zeros), "derived", HASH_LENGTH, hashOf([]));
  return expand(hmac(derived, shared), "s hs traffic", HASH_LENGTH, hashOf(transcript));
}

/** Encrypts handshake messages as one record (RFC 8446, 5.2). It is the first one, so its number is 0. */
function encrypted(secret: Buffer, messages: Buffer): Buffer {
  const cipher = createCipheriv("aes-128-gcm", expand(secret, "key", 16), expand(secret, "iv", 12));
  const tagLength = 16;
  const plain = Buffer.concat([messages, number(1, HANDSHAKE)]);
  const header = Buffer.concat([
    number(1, ENCRYPTED),
    number(2, LEGACY_VERSION),
    number(2, plain.length + tagLength),
  ]);
  cipher.setAAD(header);
  return Buffer.concat([header, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label for at most one hash (RFC 8446, 7.1). */
function expand(
  secret: Buffer,
  label: string,
  length: number,
  context: Buffer = Buffer.alloc(0),
): Buffer {
  const info = [number(2, length), vector(1, Buffer.from(`tls13 ${label}`)), vector(1, context)];
  return hmac(secret, Buffer.concat([...info, number(1, 1)])).subarray(0, length);
}

function hmac(key: Buffer, data: Buffer): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

function hashOf(messages: readonly Buffer[]): Buffer {
  return createHash("sha256").update(Buffer.concat(messages)).digest();
}

function handshake(type: number, ...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([number(1, type), vector(3, ...parts)]);
}

function record(type: number, content: Buffer): Buffer {
  return Buffer.concat([number(1, type), number(2, LEGACY_VERSION), vector(2, content)]);
}

/** Returns parts behind the number of their bytes. */
function vector(lengthSize: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([number(lengthSize, content.length), content]);
}

function number(size: number, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

async function writeAll(client: RawConnection, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await client.write(bytes.subarray(sent));
}

/**
 * Waits until the client ends the connection: closing it first could take the answer away. The deadline of handshakes
 * bounds this as well.
 */
async function untilEnd(client: RawConnection): Promise<void> {
  const buffer = new Uint8Array(1024);
  while (await client.read(buffer) !== null);
}
