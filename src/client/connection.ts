import type { RateLimiter } from "../rules/concurrency.ts";
import { Project } from "./api/project.ts";
import { Retrier, type RetrierOptions } from "./api/retrier.ts";
import { addressOf, Transport, type TransportOptions } from "./api/transport.ts";
import { ClientError, explained, isTemporary, type NamedServer, reworded } from "./errors.ts";
import { MAX_KEY_HEADER, MIN_SECRET_LENGTH, parseProjectKey } from "../rules/secrets.ts";

export interface ConnectionOptions {
  /** The server's address, such as `https://files.example.com`. */
  url: string;
  credentials: Credentials;
  /** The project of the administrator; a project key has its own. */
  project?: string | undefined;
  retrier: Retrier;
  /** Receives each request after its answer began, or failed. */
  onRequest?: ((request: RequestReport) => void) | undefined;
  /** Certificates of further authorities to trust, in PEM. */
  authorities?: string | undefined;
  /** Limits the bytes of files that are sent and received. */
  limiter?: RateLimiter | undefined;
  /** Answers in place of a server, for a store that this process opened. */
  local?: LocalServer | undefined;
}

/** A server within this process. */
export interface LocalServer {
  /** The folder or the URL of its store. */
  place: string;
  fetch(request: Request): Promise<Response>;
}

/** A request that was sent, without its secrets. */
export interface RequestReport {
  method: string;
  /** With the query. */
  path: string;
  /** `undefined` if there was no answer. */
  status: number | undefined;
  /** Milliseconds until the answer began. */
  time: number;
}

/** The typed client with what the command line needs: all kinds of keys, more authorities, limits, and its words. */
export class Connection implements Disposable {
  readonly origin: string;
  readonly transport: Transport;
  readonly limiter: RateLimiter | undefined;
  readonly #address: string;
  readonly #client: Deno.HttpClient | undefined;
  #project: Project | undefined;

  /** @throws {KvdriveError} if the address is malformed, {ClientError} if the certificates are. */
  constructor(private readonly options: ConnectionOptions) {
    const { url, credentials, retrier, authorities, limiter, local } = options;
    const address = addressOf(url);
    const { origin } = new URL(address);
    this.#address = address;
    this.#client = authorities === undefined ? undefined : clientTrusting(authorities);
    this.origin = origin;
    this.limiter = limiter;
    const server: NamedServer = {
      origin,
      secret: credentials.kind === "key" ? "project key" : "administrator's token",
      hasAuthorities: authorities !== undefined,
    };
    const projectOf = () => this.project;
    this.transport = new Transport({
      address,
      get project() {
        return projectOf();
      },
      credentials: credentialHeaders(credentials),
      fetch: (request) => this.#fetch(request),
      keepsDotSegments: local !== undefined,
      retrier,
      explain: (error) => explained(error, server),
      bodyOf: limiter && pacedBy(limiter),
    });
  }

  /** The project that paths are in. @throws {ClientError} if the administrator did not choose one. */
  get project(): string {
    const { credentials, project } = this.options;
    const id = credentials.kind === "key" ? credentials.project : project;
    if (id !== undefined) return id;
    throw new ClientError(
      "The administrator's token opens all projects: choose one with --project, or use a project key",
    );
  }

  /** The typed client of the project. @throws {ClientError} if the administrator did not choose one. */
  get client(): Project {
    return this.#project ??= new Project(this.transport);
  }

  get credentials(): Credentials {
    return this.options.credentials;
  }

  /** Differs between any two servers or projects. */
  get identity(): string {
    const { local } = this.options;
    return local === undefined
      ? `${this.#address}/v1/${this.project}`
      : `${local.place}\0${this.project}`;
  }

  /** Whether the key crosses a network unencrypted. */
  get isExposed(): boolean {
    const { protocol, hostname } = new URL(this.origin);
    return protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  }

  [Symbol.dispose](): void {
    this.#client?.close();
  }

  async #fetch(request: Request): Promise<Response> {
    const { onRequest, local } = this.options;
    const { method, url } = request;
    const client = this.#client;
    const init: RequestInit & { client?: Deno.HttpClient } = client === undefined ? {} : { client };
    const began = performance.now();
    let status: number | undefined;
    try {
      const answer = await (local?.fetch(request) ?? fetch(request, init));
      status = answer.status;
      return answer;
    } finally {
      const path = url.slice(this.origin.length);
      onRequest?.({ method, path, status, time: performance.now() - began });
    }
  }
}

/** Returns what sends bytes in pieces at a limited rate. */
function pacedBy(limiter: RateLimiter): NonNullable<TransportOptions["bodyOf"]> {
  return (bytes, onPiece) => {
    if (bytes.byteLength === 0) return new Uint8Array();
    return ReadableStream.from(async function* () {
      for await (const piece of limiter.pace(bytes)) {
        onPiece();
        yield piece;
      }
    }());
  };
}

/** Returns an HTTP client that trusts further authorities. @throws {ClientError} if the certificates cannot be read. */
function clientTrusting(authorities: string): Deno.HttpClient {
  try {
    return Deno.createHttpClient({ caCerts: [authorities] });
  } catch (error) {
    throw new ClientError(
      "Cannot read a certificate in the file of --cacert: it must be valid PEM",
      { cause: error },
    );
  }
}

/** Milliseconds for which an operation is repeated, unless configured. */
const DEFAULT_RETRY_TIME = 5 * 60_000;

export interface RetryOptions extends Pick<RetrierOptions, "now" | "pause" | "random"> {
  /** Milliseconds for which an operation is repeated, counted from its first failure. */
  retryFor?: number;
  /** Receives a sentence for the user when waiting begins: once until the next success. */
  onWait?: (sentence: string) => void;
}

/** Returns what repeats the requests of a command, and tells the user. */
export function commandRetrier(
  { retryFor = DEFAULT_RETRY_TIME, onWait, ...options }: RetryOptions = {},
): Retrier {
  const notice = `Retrying for up to ${Math.round(retryFor / 1000)} seconds`;
  return new Retrier({
    ...options,
    retryFor,
    isTemporary,
    onWait: ({ message }) => onWait?.(joinSentences(message, notice)),
    giveUp: (error, wasReached) => {
      const advice = wasReached
        ? "Gave up retrying: run the same command again to resume"
        : "Is the server running? Set its address with --url or KVDRIVE_URL";
      return reworded(error, joinSentences(error.message, advice));
    },
  });
}

/** Joins two sentences, of which the first may be a question. */
function joinSentences(first: string, second: string): string {
  return first.endsWith("?") ? `${first} ${second}` : `${first}. ${second}`;
}

/** What a server is asked with. */
export type Credentials = ProjectCredentials | AdministratorCredentials;

export interface ProjectCredentials {
  kind: "key";
  project: string;
  secret: string;
}

/** The administrator's token, which opens all projects. */
export interface AdministratorCredentials {
  kind: "token";
  secret: string;
}

/** Returns a secret as a project key, or else as the administrator's token, by its form; `undefined` if it is neither. */
export function parseCredentials(secret: string): Credentials | undefined {
  return keyCredentials(secret) ?? tokenCredentials(secret);
}

/** Returns a secret as a project key, if it has the form of one. */
export function keyCredentials(secret: string): ProjectCredentials | undefined {
  const key = parseProjectKey(secret);
  return key && { kind: "key", project: key.project, secret };
}

/** Returns a secret as a token, if it has the form of one. */
export function tokenCredentials(secret: string): AdministratorCredentials | undefined {
  const isToken = /^[\x21-\x7e]+$/.test(secret) && isLongEnough(secret);
  return isToken ? { kind: "token", secret } : undefined;
}

function isLongEnough({ length }: string): boolean {
  return length >= MIN_SECRET_LENGTH && length <= MAX_KEY_HEADER;
}

export function credentialHeaders({ kind, secret }: Credentials): Record<string, string> {
  return kind === "key" ? { "X-Api-Key": secret } : { Authorization: `Bearer ${secret}` };
}
