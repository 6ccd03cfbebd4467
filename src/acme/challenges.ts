import type { HandshakeAnswer } from "../http1/tls/tls_certificates.ts";

/** How an authority checks that a host name belongs to this server. */
export type ChallengeType = "http-01" | "tls-alpn-01";

/** The protocol of handshakes that prove control over a host name (RFC 8737, 6.2). */
export const CHALLENGE_PROTOCOL = "acme-tls/1";

/** The answers to challenges that an authority may ask for now. */
export class Challenges {
  readonly #texts = new Map<string, string>();
  readonly #handshakes = new Map<string, HandshakeAnswer>();

  /** Returns the text for a token of HTTP-01 (RFC 8555, 8.3). */
  text(token: string): string | undefined {
    return this.#texts.get(token);
  }

  /** Returns the handshake for a host name of TLS-ALPN-01 (RFC 8737, 3). */
  handshake(name: string): HandshakeAnswer | undefined {
    return this.#handshakes.get(name);
  }

  /** Answers with a text until the result is disposed of. */
  offerText(token: string, text: string): Disposable {
    this.#texts.set(token, text);
    return { [Symbol.dispose]: () => void this.#texts.delete(token) };
  }

  /** Answers handshakes for a host name until the result is disposed of. */
  offerHandshake(name: string, handshake: HandshakeAnswer): Disposable {
    this.#handshakes.set(name, handshake);
    return { [Symbol.dispose]: () => void this.#handshakes.delete(name) };
  }
}
