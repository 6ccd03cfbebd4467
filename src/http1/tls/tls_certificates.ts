/** A certificate chain and its private key, in PEM. It is never changed: a renewed one is another object. */
export interface TlsCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Selects the certificate of each connection. */
export interface CertificateSource {
  /**
   * Returns the certificate for a client; `undefined` if there is none, which fails the handshake.
   *
   * @param serverName The host name that the client asks for, in lower case; `undefined` if it names none.
   */
  select(
    serverName: string | undefined,
  ): TlsCertificate | undefined | Promise<TlsCertificate | undefined>;
  /** Whether further handshakes may use a certificate that was selected before. */
  isCurrent(certificate: TlsCertificate): boolean;
}
