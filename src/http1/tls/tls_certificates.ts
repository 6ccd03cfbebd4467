import type { ClientHello } from "./client_hello.ts";
import type { ByteSource } from "../connection.ts";

/** A certificate chain and its private key, in PEM. It is never changed: a renewed one is another object. */
export interface TlsCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A client's connection below TLS. */
export interface RawConnection extends ByteSource {
  write(bytes: Uint8Array): Promise<number>;
}

/** Completes the handshake of a client in its own way. The connection is closed after it. */
export interface HandshakeAnswer {
  /** @param first The bytes that the client has sent: a ClientHello. */
  answer(first: Uint8Array, client: RawConnection): Promise<void>;
}

/** Selects the certificate of each connection. */
export interface CertificateSource {
  /** Returns the certificate for a client; `undefined` if there is none, which fails the handshake. */
  select(hello: ClientHello): Selection | Promise<Selection>;
  /** Whether further handshakes may use a certificate that was selected before. */
  isCurrent(certificate: TlsCertificate): boolean;
}

export type Selection = TlsCertificate | HandshakeAnswer | undefined;
