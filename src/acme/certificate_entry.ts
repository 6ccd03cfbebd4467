import { MAX_PAUSE, renewalTime, retryDelay, suggestedTime } from "./schedule.ts";
import type { StoredCertificate } from "./stored_certificate.ts";

/** The state of a host name's certificate, for the metrics and the administrator. */
export interface CertificateStatus {
  name: string;
  /** End of its validity, in milliseconds since 1970; `undefined` without a certificate. */
  notAfter: number | undefined;
  /** When it is renewed; `undefined` without a certificate. */
  renewal: number | undefined;
  /** Failed attempts in a row. */
  failures: number;
  /** Why the last attempt failed: the end of a sentence. */
  problem: string | undefined;
}

/** A host name, its certificate, and when the next attempt to obtain one is due. */
export class CertificateEntry {
  certificate: StoredCertificate | undefined;
  /** Whether the certificate could not be written to the disk yet. */
  isUnsaved = false;
  /** The time that the authority suggests for the renewal, in milliseconds since 1970. */
  suggestedRenewal: number | undefined;
  /** When to ask the authority for that time, as `performance.now()`. */
  askAt = 0;
  failures = 0;
  problem: string | undefined;
  /** Until when no attempt is made, in milliseconds since 1970: it is stored and outlives the process. */
  pausedUntil = 0;
  /** The first attempt after a failure, as `performance.now()`: the clock of the system may jump. */
  #retryAt = 0;
  /** The latest time of the renewal, as `performance.now()`: the clock of the system may be slow. */
  #renewBy = Infinity;

  constructor(readonly name: string, readonly isConfigured: boolean) {}

  /** When the certificate is renewed, in milliseconds since 1970: at once if there is none of this authority. */
  renewal(directory: string): number {
    if (this.certificate?.directory !== directory) return 0;
    return suggestedTime(this.certificate, this.suggestedRenewal ?? Infinity);
  }

  /** Returns whether a certificate has to be obtained now. */
  isDue(directory: string): boolean {
    const now = Date.now();
    // A pause from a time when the clock was wrong could last for years.
    const isPaused = now < this.pausedUntil && this.pausedUntil <= now + MAX_PAUSE;
    const monotonic = performance.now();
    if (isPaused || monotonic < this.#retryAt) return false;
    return now >= this.renewal(directory) || monotonic >= this.#renewBy;
  }

  /** Takes a certificate, from the authority or from the disk. */
  adopt(certificate: StoredCertificate): void {
    if (this.certificate?.tls.cert === certificate.tls.cert) return;
    this.certificate = certificate;
    this.suggestedRenewal = undefined;
    this.askAt = 0;
    this.failures = 0;
    this.problem = undefined;
    this.#retryAt = 0;
    this.#renewBy = performance.now() + renewalTime(certificate) - certificate.notBefore;
  }

  /**
   * Records a failed attempt.
   *
   * @param least The least time before the next one, in milliseconds.
   * @returns The time before the next one.
   */
  fail(problem: string, least: number): number {
    this.failures++;
    this.problem = problem;
    const wait = Math.max(retryDelay(this.failures), least);
    this.#retryAt = performance.now() + wait;
    return wait;
  }

  /** Does nothing for some time, in milliseconds. */
  postpone(time: number): void {
    this.#retryAt = performance.now() + time;
  }

  status(directory: string): CertificateStatus {
    const { name, certificate, failures, problem } = this;
    const renewal = certificate && this.renewal(directory);
    return { name, notAfter: certificate?.notAfter, renewal, failures, problem };
  }
}
