import type { ClientHello } from "./client_hello.ts";

/** A certificate chain and its private key, in PEM. It is never changed: a renewed one is another object. */
export interface TlsCertificate {
  readonly cert: string;
  readonly key: string;
  /** The protocol that a handshake with this certificate negotiates; `http/1.1` unless given. */
  readonly protocol?: string;
  /** Whether the connection is closed after the handshake, which proves something by itself. */
  readonly isForHandshakeOnly?: true;
}

/** Selects the certificate of each connection. */
export interface CertificateSource {
  /** Returns the certificate for a client; `undefined` if there is none, which fails the handshake. */
  select(hello: ClientHello): TlsCertificate | undefined | Promise<TlsCertificate | undefined>;
  /** Whether further handshakes may use a certificate that was selected before. */
  isCurrent(certificate: TlsCertificate): boolean;
}
