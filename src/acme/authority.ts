import { Buffer } from "node:buffer";
import { delay } from "@std/async/delay";
import type { Authorization, Client, Order } from "acme-client";
import { SECOND } from "../rules/units.ts";
import { AcmeError, kindOf, type Problem, problemText } from "./acme_error.ts";
import { AuthorityHttp } from "./authority_http.ts";
import type { CertificateFolder } from "./certificate_folder.ts";
import { describe, leafOf, type StoredCertificate } from "./stored_certificate.ts";

/** How long the authority may take to check a challenge, and to issue a certificate, in milliseconds. */
const CHECK_TIMEOUT = 90 * SECOND;

/** The time between two questions about the state of an order, in milliseconds, unless the authority says another. */
const POLL_INTERVAL = SECOND;

/** How the authority checks that a host name belongs to this server (RFC 8555, 8.3). */
const CHALLENGE_TYPE = "http-01";

/** Refusals of an order that may be due to the certificate that it replaces (RFC 9773, 5). */
const REPLACEMENT_REFUSALS = ["alreadyReplaced", "malformed", "conflict", "unauthorized"];

export interface AuthorityOptions {
  /** The address of the directory (RFC 8555, 7.1.1). */
  directory: string;
  /** Authorities to trust besides those of the system, in PEM. */
  authorities: string | undefined;
  email: string | undefined;
  userAgent: string;
  folder: CertificateFolder;
  /** The answers to the challenges that the authority may ask for now, by their tokens (RFC 8555, 8.3). */
  challenges: Map<string, string>;
}

/** When the authority suggests to renew a certificate, in milliseconds since 1970. */
export interface RenewalWindow {
  start: number;
  end: number;
  /** Milliseconds until the next question, if the authority says so. */
  retryAfter: number | undefined;
}

type AcmeLibrary = typeof import("acme-client");

/** The parts of the library's client that are not in its types. Its own HTTP has global settings and hides headers. */
interface ClientParts {
  http: {
    request: (url: string, method: string, options?: { data?: unknown }) => Promise<unknown>;
    getDirectory: () => Promise<Record<string, unknown>>;
  };
}

/** An authority that speaks ACME (RFC 8555). Account and keys are in the folder; orders are made one at a time. */
export class Authority implements Disposable {
  readonly #http: AuthorityHttp;
  #client: (Client & ClientParts) | undefined;

  constructor(private readonly options: AuthorityOptions) {
    this.#http = new AuthorityHttp(options);
  }

  get directory(): string {
    return this.options.directory;
  }

  /**
   * Orders a certificate for a host name.
   *
   * @param replaced The certificate that it replaces.
   * @throws {AcmeError} if the authority cannot be reached, or refuses.
   */
  async obtain(name: string, replaced: StoredCertificate | undefined): Promise<StoredCertificate> {
    const library = await import("acme-client");
    const client = await this.#signIn(library);
    let order = await this.#order(client, name, replaced);
    for (const authorization of await client.getAuthorizations(order)) {
      if (authorization.status === "pending") await this.#prove(client, order, authorization);
    }
    order = await this.#until(
      () => client.getOrder(order),
      ({ status }) => status !== "pending" && status !== "processing",
    );
    requireNotInvalid(order);
    const key = String(await library.crypto.createPrivateEcdsaKey());
    const [, csr] = await library.crypto.createCsr({ altNames: [name] }, key);
    order = await client.finalizeOrder(order, csr);
    order = await this.#until(
      () => client.getOrder(order),
      ({ status }) => status !== "processing",
    );
    requireNotInvalid(order);
    const cert = await client.getCertificate(order);
    const certificate = await describe(this.directory, { cert, key }, replaced?.since);
    if (certificate?.name === name) return certificate;
    throw new AcmeError("the authority sent no certificate for the name");
  }

  /** Returns when the authority suggests to renew (RFC 9773); `undefined` if it suggests nothing. */
  async renewalWindow(certificate: StoredCertificate): Promise<RenewalWindow | undefined> {
    const { renewalInfo } = await this.#directory();
    if (typeof renewalInfo !== "string") return undefined;
    const id = await certificateId(certificate);
    if (id === undefined) return undefined;
    const { data } = await this.#http.request(`${renewalInfo}/${id}`, "get");
    const { suggestedWindow: window } = (data ?? {}) as {
      suggestedWindow?: Record<string, string>;
    };
    const [start, end] = [parseTime(window?.["start"]), parseTime(window?.["end"])];
    if (start === undefined || end === undefined || start > end) return undefined;
    return { start, end, retryAfter: this.#http.retryAfter };
  }

  [Symbol.dispose](): void {
    this.#http[Symbol.dispose]();
  }

  async #directory(): Promise<Record<string, unknown>> {
    if (this.#client !== undefined) return await this.#client.http.getDirectory();
    const { data } = await this.#http.request(this.directory, "get");
    return (data ?? {}) as Record<string, unknown>;
  }

  /** Returns a client with an account at the authority. The key is stored before it is used. */
  async #signIn(library: AcmeLibrary): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const { directory, email, folder } = this.options;
    const stored = await folder.account();
    const known = stored?.directory === directory ? stored : undefined;
    const key = known?.key ?? String(await library.crypto.createPrivateEcdsaKey());
    const accountUrl = known?.email === email ? known?.url : undefined;
    if (known === undefined) await folder.saveAccount({ directory, key, email });
    const client = this.#connect(library, key, accountUrl);
    if (accountUrl === undefined) {
      // The library updates an account that exists already, and an update without a contact is refused as empty.
      const contact = email === undefined ? [] : [`mailto:${email}`];
      await client.createAccount({ termsOfServiceAgreed: true, contact });
      await folder.saveAccount({ directory, key, email, url: client.getAccountUrl() });
    }
    return this.#client = client;
  }

  #connect(
    library: AcmeLibrary,
    accountKey: string,
    accountUrl: string | undefined,
  ): Client & ClientParts {
    const { directory } = this.options;
    const client = new library.Client({
      directoryUrl: directory,
      accountKey,
      ...(accountUrl && { accountUrl }),
    }) as Client & ClientParts;
    client.http.request = (url, method, { data } = {}) => this.#http.request(url, method, data);
    return client;
  }

  /** Begins an order. The authority may forget accounts, and may refuse to replace a certificate: then without. */
  async #order(client: Client, name: string, replaced?: StoredCertificate): Promise<Order> {
    const order = { identifiers: [{ type: "dns", value: name }] };
    const { renewalInfo } = await this.#directory();
    const isReplacement = typeof renewalInfo === "string" && replaced?.directory === this.directory;
    const replaces = isReplacement ? await certificateId(replaced) : undefined;
    try {
      return await client.createOrder({ ...order, ...(replaces && { replaces }) });
    } catch (error) {
      if (!(error instanceof AcmeError)) throw error;
      if (error.kind === "accountDoesNotExist") await this.#forgetAccount();
      const refusesReplacement = REPLACEMENT_REFUSALS.includes(error.kind ?? "");
      if (replaces === undefined || !refusesReplacement) throw error;
      return await client.createOrder(order);
    }
  }

  /** The next attempt makes another account. */
  async #forgetAccount(): Promise<void> {
    const { folder } = this.options;
    this.#client = undefined;
    const account = await folder.account();
    if (account !== undefined) await folder.saveAccount({ ...account, url: undefined });
  }

  /** Answers the challenge of an authorization, and waits until the authority has checked it. */
  async #prove(client: Client, order: Order, authorization: Authorization): Promise<void> {
    const challenge = challengeOf(authorization);
    if (challenge === undefined) {
      throw new AcmeError(`the authority does not offer ${CHALLENGE_TYPE}`);
    }
    const { challenges } = this.options;
    challenges.set(challenge.token, await client.getChallengeKeyAuthorization(challenge));
    try {
      await client.completeChallenge(challenge);
      const checked = await this.#until(
        async () =>
          (await client.getAuthorizations(order)).find(({ url }) => url === authorization.url),
        (found) => found?.status !== "pending",
      );
      if (checked?.status === "valid") return;
      const failed = checked && challengeOf(checked);
      const problem = (failed?.error ?? {}) as Problem;
      const { value } = authorization.identifier;
      throw new AcmeError(
        `the authority could not verify ${value} by ${CHALLENGE_TYPE}: ${problemText(problem)}`,
        { kind: kindOf(problem) },
      );
    } finally {
      challenges.delete(challenge.token);
    }
  }

  /** Repeats a question until its answer is final. @throws {AcmeError} after `CHECK_TIMEOUT`. */
  async #until<T>(ask: () => Promise<T>, isFinal: (answer: T) => boolean): Promise<T> {
    const { signal } = this.#http;
    const deadline = performance.now() + CHECK_TIMEOUT;
    for (;;) {
      const answer = await ask();
      if (isFinal(answer)) return answer;
      const wait = Math.max(POLL_INTERVAL, this.#http.retryAfter ?? 0);
      if (performance.now() + wait > deadline) {
        throw new AcmeError(`the authority has not decided after ${CHECK_TIMEOUT / SECOND} s`);
      }
      await delay(wait, { signal });
    }
  }
}

function challengeOf(
  { challenges }: Authorization,
): Authorization["challenges"][number] | undefined {
  return challenges.find(({ type }) => type === CHALLENGE_TYPE);
}

function requireNotInvalid({ status, error }: Order): void {
  if (status !== "invalid") return;
  const problem = (error ?? {}) as Problem;
  throw new AcmeError(`the authority refuses: ${problemText(problem)}`, { kind: kindOf(problem) });
}

/**
 * Returns the identifier of a certificate: the identifier of its issuer's key and its serial number (RFC 9773, 4.1).
 * `undefined` if the certificate does not name the key.
 */
async function certificateId({ tls }: StoredCertificate): Promise<string | undefined> {
  const x509 = await import("@peculiar/x509");
  const leaf = new x509.X509Certificate(leafOf(tls));
  const issuer = leaf.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId;
  if (issuer === undefined) return undefined;
  const encode = (hex: string) => Buffer.from(hex, "hex").toString("base64url");
  return `${encode(issuer)}.${encode(leaf.serialNumber)}`;
}

/** Parses the time of a window (RFC 3339). */
function parseTime(text: unknown): number | undefined {
  const time = typeof text === "string" ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
