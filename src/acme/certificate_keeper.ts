import { delay } from "@std/async/delay";
import type { CertificateSource, TlsCertificate } from "../http1/tls/tls_end.ts";
import { isoSeconds } from "../rules/dates.ts";
import { failureReason } from "../rules/system_error.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../rules/units.ts";
import { AcmeError } from "./acme_error.ts";
import type { Authority } from "./authority.ts";
import { CertificateEntry, type CertificateStatus } from "./certificate_entry.ts";
import type { CertificateFolder } from "./certificate_folder.ts";
import { clockPause, MAX_PAUSE, windowInterval } from "./schedule.ts";
import type { StoredCertificate } from "./stored_certificate.ts";

/** How often the keeper looks for something to do, in milliseconds. */
const TICK = 500;

/** How often certificates of other processes are looked for, in milliseconds. */
const RELOAD_INTERVAL = 5 * SECOND;

/** The pause after the folder or the store could not be read, in milliseconds. */
const ERROR_PAUSE = MINUTE;

/** How long the first handshake for an application's host name waits for its certificate, in milliseconds. */
const FIRST_WAIT = 15 * SECOND;

/** Orders within an hour for host names of applications without a certificate. Let's Encrypt allows 300 in 3 hours. */
const MAX_FIRST_ORDERS = 30;

/**
 * Names below one registered domain up to which applications get a first certificate, and the period that counts, in
 * milliseconds. Let's Encrypt issues 50 in 7 days (letsencrypt.org/docs/rate-limits); renewals do not count. Half of
 * them are left to other machines of the domain.
 */
const MAX_DOMAIN_NAMES = 25;
const DOMAIN_PERIOD = 7 * DAY;

/** The time before a certificate that could not be written is written again, in milliseconds. */
const SAVE_INTERVAL = MINUTE;

export interface KeeperOptions {
  /** The host names of the server. The first one is for clients that name none. */
  names: readonly string[];
  /** Returns whether an application has a host name. */
  isAppHost: (name: string) => Promise<boolean>;
  /** Returns the name that someone registered, such as `example.co.uk`, for a host name. */
  registeredDomain: (name: string) => string;
  authority: Authority;
  folder: CertificateFolder;
  /**
   * Asks the process of the server that obtains certificates to obtain the first one of a host name, and returns whether
   * there is one. Absent in that process.
   */
  order?: (name: string) => Promise<boolean>;
  onNotice: (text: string) => void;
  onError: (error: unknown) => void;
}

/**
 * Obtains the certificates of the server's host names and of the applications that clients ask for, renews them in time,
 * and selects one for each connection. One order is made at a time, also among several processes with one data folder.
 */
export class CertificateKeeper implements CertificateSource {
  readonly #entries = new Map<string, CertificateEntry>();
  /** Handshakes that wait for the first certificate of a host name. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  /** When certificates were ordered for names of applications without one, as `performance.now()`. */
  #firstOrders: number[] = [];
  #revision = 0;
  #reloadAt = 0;
  #saveAt = 0;
  #running: Promise<void> | undefined;
  readonly #stopped = new AbortController();

  constructor(private readonly options: KeeperOptions) {
    for (const name of options.names) this.#entries.set(name, new CertificateEntry(name, true));
  }

  /** Reads the stored certificates. @throws if the folder cannot be used. */
  async load(): Promise<void> {
    const { folder, onError } = this.options;
    await folder.prepare();
    const { damaged } = await this.#reload();
    for (const file of damaged) {
      onError(
        new AcmeError(`The certificate in ${folder.path}/${file} is damaged and is not used`),
      );
    }
  }

  /** Starts to obtain and to renew certificates. */
  start(): void {
    this.#running = this.#run();
  }

  /** Stops, and gives up an order that is being made: its result is not stored. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.options.authority[Symbol.dispose]();
    for (const { resolve } of this.#waiting.values()) resolve();
    await this.#running;
  }

  select(
    serverName: string | undefined,
  ): TlsCertificate | undefined | Promise<TlsCertificate | undefined> {
    const entry = this.#entries.get(serverName ?? this.options.names[0] ?? "");
    if (entry?.certificate !== undefined) return entry.certificate.tls;
    return entry?.isConfigured || serverName === undefined
      ? undefined
      : this.#selectFirst(serverName);
  }

  isCurrent(certificate: TlsCertificate): boolean {
    return [...this.#entries.values()].some((entry) => entry.certificate?.tls === certificate);
  }

  /** Returns whether a host name is one of the server or of an application. */
  async knows(name: string): Promise<boolean> {
    return this.#entries.get(name)?.isConfigured || await this.options.isAppHost(name);
  }

  status(): CertificateStatus[] {
    const { directory } = this.options.authority;
    return [...this.#entries.values()].map((entry) => entry.status(directory));
  }

  /** Waits for the first certificate of an application's host name. */
  async #selectFirst(name: string): Promise<TlsCertificate | undefined> {
    if (!await this.options.isAppHost(name)) return undefined;
    let entry = this.#entries.get(name);
    if (this.options.order !== undefined) {
      if (await this.options.order(name)) await this.#reload();
      return this.#entries.get(name)?.certificate?.tls;
    }
    if (entry === undefined) {
      if (!this.#mayOrderFirst()) return undefined;
      this.#entries.set(name, entry = new CertificateEntry(name, false));
    }
    if (!entry.isDue(this.options.authority.directory) || this.#stopped.signal.aborted) {
      return undefined;
    }
    const waiting = this.#waiting.get(name) ?? Promise.withResolvers<void>();
    this.#waiting.set(name, waiting);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, FIRST_WAIT);
    waiting.promise.then(resolve);
    await promise;
    clearTimeout(timer);
    return entry.certificate?.tls;
  }

  #mayOrderFirst(): boolean {
    const oldest = performance.now() - HOUR;
    this.#firstOrders = this.#firstOrders.filter((at) => at > oldest);
    return this.#firstOrders.length < MAX_FIRST_ORDERS;
  }

  /**
   * Counts the names below the registered domain of a name that got their first certificate, in all projects: those of
   * one tenant must not use up the authority's limit.
   *
   * @throws {AcmeError} if there are too many.
   */
  async #requireDomainRoom(name: string): Promise<void> {
    // Other processes may have obtained some.
    await this.#reload();
    const { registeredDomain } = this.options;
    const domain = registeredDomain(name);
    const oldest = Date.now() - DOMAIN_PERIOD;
    const recent = [...this.#entries.values()]
      .filter((entry) => registeredDomain(entry.name) === domain)
      .map(({ certificate }) => certificate?.since ?? 0)
      .filter((since) => since > oldest)
      .sort((a, b) => b - a);
    const last = recent[MAX_DOMAIN_NAMES - 1];
    if (last === undefined) return;
    throw new AcmeError(
      `${recent.length} names of ${domain} got their first certificate within 7 days, and the limit is ${MAX_DOMAIN_NAMES}`,
      { retryAfter: last - oldest },
    );
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await this.#work();
      } catch (error) {
        if (signal.aborted) return;
        const { path } = this.options.folder;
        this.options.onError(
          new AcmeError(`Cannot look after the certificates in ${path}: ${failureReason(error)}`),
        );
        await delay(ERROR_PAUSE, { signal }).catch(() => {});
      }
      await delay(TICK, { signal }).catch(() => {});
    }
  }

  async #work(): Promise<void> {
    const now = performance.now();
    if (now >= this.#reloadAt) {
      this.#reloadAt = now + RELOAD_INTERVAL;
      if (await this.options.folder.revision() !== this.#revision) await this.#reload();
    }
    if (this.options.order !== undefined) return;
    await this.#saveAgain();
    const { directory } = this.options.authority;
    const due = [...this.#entries.values()].filter((entry) => entry.isDue(directory))
      // Handshakes wait for some of them; the names of the server come before those of applications.
      .sort((a, b) => this.#rank(b) - this.#rank(a));
    for (const entry of due) {
      if (this.#stopped.signal.aborted) return;
      if (entry.isConfigured || await this.options.isAppHost(entry.name)) {
        await this.#attempt(entry);
      } else await this.#retire(entry);
    }
    for (const entry of this.#entries.values()) {
      // If the authority is away, each question could take long.
      if (!await this.#askForWindow(entry)) break;
    }
  }

  #rank({ name, isConfigured, certificate }: CertificateEntry): number {
    return (isConfigured ? 4 : 0) + (certificate === undefined ? 2 : 0) +
      (this.#waiting.has(name) ? 1 : 0);
  }

  async #reload(): Promise<{ damaged: string[] }> {
    const { folder } = this.options;
    this.#revision = await folder.revision();
    const [{ certificates, damaged }, pauses] = await Promise.all([folder.load(), folder.pauses()]);
    for (const certificate of certificates) {
      const { name } = certificate;
      const entry = this.#entries.get(name) ?? new CertificateEntry(name, false);
      this.#entries.set(name, entry);
      if (!entry.isUnsaved) entry.adopt(certificate);
    }
    for (const [name, until] of Object.entries(pauses)) {
      const entry = this.#entries.get(name);
      if (entry !== undefined) entry.pausedUntil = until;
    }
    return { damaged };
  }

  /** Makes one attempt, unless another process makes one or has just made it. */
  async #attempt(entry: CertificateEntry): Promise<void> {
    const { folder, authority } = this.options;
    using lock = await this.#lock();
    if (lock === undefined) return;
    try {
      const stored = await folder.find(entry.name);
      if (stored !== undefined && !entry.isUnsaved) entry.adopt(stored);
      entry.pausedUntil = (await folder.pauses())[entry.name] ?? 0;
      if (!entry.isDue(authority.directory)) return;
      if (!entry.isConfigured && entry.certificate === undefined) {
        if (!this.#mayOrderFirst()) return entry.postpone(MINUTE);
        await this.#requireDomainRoom(entry.name);
        this.#firstOrders.push(performance.now());
      }
      await this.#take(entry, await authority.obtain(entry.name, entry.certificate));
    } catch (error) {
      if (!this.#stopped.signal.aborted) await this.#reportFailure(entry, error);
    } finally {
      this.#waiting.get(entry.name)?.resolve();
      this.#waiting.delete(entry.name);
    }
  }

  /** Without a lock, as on a full disk, the process works alone: its certificate may be about to expire. */
  async #lock(): Promise<Disposable | undefined> {
    try {
      return await this.options.folder.lock();
    } catch {
      return { [Symbol.dispose]: () => {} };
    }
  }

  async #take(entry: CertificateEntry, issued: StoredCertificate): Promise<void> {
    const { authority, onNotice } = this.options;
    entry.adopt(issued);
    entry.isUnsaved = true;
    await this.#save(entry, issued);
    const renewal = entry.renewal(authority.directory);
    const until = `valid until ${isoSeconds(issued.notAfter)}`;
    if (Date.now() >= renewal) {
      const pause = clockPause(issued);
      onNotice(
        `The new certificate of ${entry.name} is ${until}, so it has to be renewed already: ` +
          "the clock of this machine seems to be wrong",
      );
      await this.#pause(entry, pause);
    } else {
      onNotice(`The certificate of ${entry.name} is ${until}; renewal at ${isoSeconds(renewal)}`);
    }
  }

  async #save(entry: CertificateEntry, certificate: StoredCertificate): Promise<void> {
    try {
      await this.options.folder.save(certificate);
      entry.isUnsaved = false;
    } catch (error) {
      this.#saveAt = performance.now() + SAVE_INTERVAL;
      this.options.onError(
        new AcmeError(
          `Cannot store the certificate of ${entry.name}, which is in use: ${
            failureReason(error)
          }. ` +
            `Next attempt in ${SAVE_INTERVAL / SECOND} s`,
        ),
      );
    }
  }

  async #saveAgain(): Promise<void> {
    if (performance.now() < this.#saveAt) return;
    for (const entry of this.#entries.values()) {
      if (entry.isUnsaved && entry.certificate !== undefined) {
        await this.#save(entry, entry.certificate);
      }
    }
  }

  async #reportFailure(entry: CertificateEntry, error: unknown): Promise<void> {
    const asked = error instanceof AcmeError ? error.retryAfter : undefined;
    const least = Math.min(asked ?? 0, MAX_PAUSE);
    const reason = error instanceof AcmeError ? error.message : failureReason(error);
    const wait = entry.fail(reason, least);
    if (least > 0) await this.#pause(entry, least);
    const next = `Next attempt in ${Math.ceil(wait / SECOND)} s, at ${
      isoSeconds(Date.now() + wait)
    }`;
    this.options.onError(
      new AcmeError(`Cannot obtain a certificate for ${entry.name}: ${reason}. ${next}`),
    );
  }

  /** Stores that no attempt is made for some time, so that a restart does not make one either. */
  async #pause(entry: CertificateEntry, time: number): Promise<void> {
    const { folder } = this.options;
    entry.pausedUntil = Date.now() + time;
    try {
      const pauses = Object.entries(await folder.pauses()).filter(([, until]) =>
        until > Date.now()
      );
      await folder.savePauses({ ...Object.fromEntries(pauses), [entry.name]: entry.pausedUntil });
    } catch (error) {
      this.options.onError(
        new AcmeError(`Cannot write to ${folder.path}: ${failureReason(error)}`),
      );
    }
  }

  /** Removes the certificate of an application that is gone, once it has expired. */
  async #retire(entry: CertificateEntry): Promise<void> {
    if ((entry.certificate?.notAfter ?? 0) > Date.now()) return entry.postpone(MINUTE);
    this.#entries.delete(entry.name);
    this.#waiting.get(entry.name)?.resolve();
    this.#waiting.delete(entry.name);
    await this.options.folder.remove(entry.name);
  }

  /**
   * Asks the authority when to renew a certificate, if that question is due. Without an answer, the certificate is renewed
   * by its lifetime.
   *
   * @returns `false` if the authority cannot be asked.
   */
  async #askForWindow(entry: CertificateEntry): Promise<boolean> {
    const { authority } = this.options;
    const { certificate } = entry;
    if (certificate?.directory !== authority.directory) return true;
    if (performance.now() < entry.askAt) return true;
    entry.askAt = performance.now() + windowInterval(certificate);
    const window = await authority.renewalWindow(certificate).catch(() => "failed" as const);
    if (window === "failed") return false;
    if (window === undefined) return true;
    entry.askAt = performance.now() + windowInterval(certificate, window.retryAfter);
    const { start, end } = window;
    const known = entry.suggestedRenewal;
    // "uniform random time within the suggested window" (RFC 9773, 4.2), chosen once.
    if (known === undefined || known < start || known > end) {
      entry.suggestedRenewal = start + Math.random() * (end - start);
    }
    return true;
  }
}
