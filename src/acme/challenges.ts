import type { TlsCertificate } from "../http1/tls_certificates.ts";

/** How an authority checks that a host name belongs to this server. */
export type ChallengeType = "http-01" | "tls-alpn-01";

/** The protocol of handshakes that prove control over a host name (RFC 8737, 6.2). */
export const CHALLENGE_PROTOCOL = "acme-tls/1";

/** The answers to challenges that an authority may ask for now. */
export class Challenges {
  readonly #texts = new Map<string, string>();
  readonly #certificates = new Map<string, TlsCertificate>();

  /** Returns the text for a token of HTTP-01 (RFC 8555, 8.3). */
  text(token: string): string | undefined {
    return this.#texts.get(token);
  }

  /** Returns the certificate for a host name of TLS-ALPN-01 (RFC 8737, 3). */
  certificate(name: string): TlsCertificate | undefined {
    return this.#certificates.get(name);
  }

  /** Returns whether a certificate is that of a challenge which is still open. */
  hasCertificate(certificate: TlsCertificate): boolean {
    return [...this.#certificates.values()].includes(certificate);
  }

  /** Answers with a text until the result is disposed of. */
  offerText(token: string, text: string): Disposable {
    this.#texts.set(token, text);
    return { [Symbol.dispose]: () => void this.#texts.delete(token) };
  }

  /** Answers handshakes for a host name with a certificate until the result is disposed of. */
  offerCertificate(name: string, { cert, key }: { cert: string; key: string }): Disposable {
    const certificate = {
      cert,
      key,
      protocol: CHALLENGE_PROTOCOL,
      isForHandshakeOnly: true,
    } as const;
    this.#certificates.set(name, certificate);
    return { [Symbol.dispose]: () => void this.#certificates.delete(name) };
  }
}
