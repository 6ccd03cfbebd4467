import { createApp } from "../../app.ts";
import type { Deps } from "../../api/endpoint.ts";
import { Gate } from "../../gate/gate.ts";
import { renderError } from "../../http/error_response.ts";
import { errors, type HttpError } from "../../http/http_error.ts";
import { requestedHost } from "../../http/network/request_origin.ts";
import type { UpstreamRules } from "../../http/network/upstream_rules.ts";
import type { WrongKeyLimiter } from "../../http/network/wrong_keys.ts";
import { NO_ROUTE } from "../../http/request_context.ts";
import { READER_PATIENCE } from "../../http/responses/response_stream.ts";
import type { ConnectionTable } from "../../http1/connection_table.ts";
import type { PortSharing } from "../../http1/listener.ts";
import type { CertificateSource, TlsCertificate } from "../../http1/tls/tls_certificates.ts";
import { type Handler, HttpServer } from "../../http1/server.ts";
import { type HostRules, isWithin } from "../../rules/hosts.ts";
import { failureReason } from "../../rules/system_error.ts";
import type { Store } from "../../store/store.ts";
import { DEFAULT_APPS_PORT, type ServeOptions } from "../options/serve_options.ts";
import { printError, StartError } from "../terminal/output.ts";
import { outOfDescriptorsText } from "./machine.ts";
import type { Observation } from "./observation.ts";

/** What every port for requests needs. */
export interface ListenParts {
  app: Handler;
  connections: ConnectionTable;
  observation: Observation;
  /** How the processes of the server share their ports. */
  sharing?: PortSharing | undefined;
}

/** How one port differs from the others. */
interface PortKind {
  /** The option that chooses it. */
  option: string;
  /** Returns the response to bytes that are no valid HTTP request. */
  refusal: (error: HttpError, requestId: string) => Response;
}

/** Where the server has its certificate from; `undefined` for plain connections. */
type Tls = TlsCertificate | CertificateSource | undefined;

/** Responds on the port of S3. */
type S3Responder = Pick<PortKind, "refusal"> & { handler: Handler };

/** The handlers of requests. */
export interface Responders {
  /** On the server's port. */
  app: Handler;
  /** Absent if S3 is off. */
  s3?: S3Responder;
}

/**
 * Returns the handlers of requests. A request for the domain of S3, or for a name below it, never reaches the other
 * routes. The modules of S3 are loaded only if it is on: loading them takes a tenth of the start time.
 */
export async function respondersOf(
  { s3Domain, s3Port }: Pick<ServeOptions, "s3Domain" | "s3Port">,
  deps: Deps,
): Promise<Responders> {
  const routes = createApp(deps);
  if (s3Domain === undefined && s3Port === "off") return { app: routes };
  const { createS3App, refuse } = await import("../../s3/s3_app.ts");
  const handler = createS3App({ ...deps, domain: s3Domain });
  const app: Handler = (request, info) =>
    isWithin(requestedHost(request.headers), s3Domain)
      ? handler(request, info)
      : routes(request, info);
  return { app: s3Domain === undefined ? routes : app, s3: { handler, refusal: refuse } };
}

export interface S3Place {
  /** Its host name on the server's own port, if it has one. */
  domain: string | undefined;
  /** Its own port, for every host name, if it has one. */
  port: number | undefined;
  /** How its own port is reached. */
  scheme: "http" | "https";
}

/**
 * Returns the address of S3 for clients that reach the server at an origin; `undefined` if S3 is off.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * const place = { domain: undefined, port: 9000, scheme: "http" } as const;
 * assertEquals(s3Address(place, "http://kv.example:8000"), "http://kv.example:9000");
 * const named = { ...place, domain: "s3.example" };
 * assertEquals(s3Address(named, "https://kv.example"), "https://s3.example");
 * ```
 */
export function s3Address({ domain, port, scheme }: S3Place, origin: string): string | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || domain === undefined && port === undefined) return undefined;
  if (domain !== undefined) {
    url.hostname = domain;
    return url.origin;
  }
  return new URL(`${scheme}://${url.hostname}:${port}`).origin;
}

/** Listens for the API and the dashboard. @throws {StartError} if that fails. */
export function listen(
  { hostname, port, idleTimeout }: Pick<ServeOptions, "hostname" | "port" | "idleTimeout">,
  tls: Tls,
  { app, connections, observation: { observer, onError }, sharing }: ListenParts,
  { option = "--port", refusal = renderError }: Partial<PortKind> = {},
): HttpServer {
  const refuse = (error: HttpError): Response => {
    const context = observer.begin(crypto.randomUUID(), "");
    const response = refusal(error, context.id);
    response.headers.set("X-Request-Id", context.id);
    observer.route(context, NO_ROUTE, "other");
    context.status = response.status;
    observer.end(context);
    return response;
  };
  try {
    return new HttpServer({ hostname, port, tls, sharing }, {
      connections,
      writeTimeout: idleTimeout * READER_PATIENCE,
      handler: app,
      respondMalformed: ({ status, message }) =>
        refuse(errors.malformed(status === 431 ? "head_too_large" : "malformed_request", message)),
      respondFull: () => refuse(errors.serverFull()),
      onError,
      onExhausted,
    });
  } catch (error) {
    throw cannotListen(hostname, port, error, option);
  }
}

/** Listens for S3; `undefined` if it has no port. @throws {StartError} if that fails. */
export function listenS3(
  { hostname, s3Port: port, idleTimeout }: ServeOptions,
  tls: Tls,
  { handler, refusal }: S3Responder,
  parts: Omit<ListenParts, "app">,
): HttpServer | undefined {
  if (port === "off") return undefined;
  const address = { hostname, port, idleTimeout };
  return listen(address, tls, { ...parts, app: handler }, { option: "--s3-port", refusal });
}

/**
 * Opens the gate to applications; `undefined` if it is off, or if no port was chosen and the default one is taken.
 *
 * @throws {StartError} if the chosen port cannot be used.
 */
export function openGate(
  options: ServeOptions,
  tls: Tls,
  { store, wrongKeys, observation: { observer, onError }, connections, policy, sharing }: {
    store: Store;
    wrongKeys: WrongKeyLimiter;
    observation: Observation;
    connections: ConnectionTable;
    policy: { hosts: HostRules; upstreamRules: UpstreamRules };
    sharing: PortSharing | undefined;
  },
): Gate | undefined {
  const { hostname, appsPort, trustedProxies, idleTimeout, appsTimeout, appsIdleTimeout, hsts } =
    options;
  if (appsPort === "off") return undefined;
  const port = appsPort ?? DEFAULT_APPS_PORT;
  const timeouts = { trustedProxies, idleTimeout, appsTimeout, appsIdleTimeout };
  const deps = { store, wrongKeys, ...policy, ...timeouts, hsts, observer, onError, onExhausted };
  try {
    return new Gate(deps, connections, { hostname, port, tls, sharing });
  } catch (error) {
    const failure = cannotListen(hostname, port, error, "--apps-port");
    // The port was not chosen, and the gate is not needed to store files.
    if (appsPort !== undefined) throw failure;
    printError(`Warning: ${failure.message}. The gate to applications is off: see --apps-port.\n`);
    return undefined;
  }
}

/** Returns the URL of an address that the server listens on. */
export function urlOf({ hostname, port }: Deno.NetAddr, scheme: string): string {
  return `${scheme}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** @param option The option that chooses the port. */
function cannotListen(
  hostname: string,
  port: number,
  error: unknown,
  option: string,
): StartError {
  const [problem, advice] = listenProblem(error, option) ?? [failureReason(error), undefined];
  const message = `Cannot listen on ${hostname}:${port}: ${problem}`;
  return new StartError(advice === undefined ? message : `${message}. ${advice}`, { cause: error });
}

/** Returns why listening failed, and what to do about it; `undefined` for an unknown error. */
function listenProblem(
  error: unknown,
  option: string,
): [problem: string, advice: string] | undefined {
  if (error instanceof Deno.errors.AddrInUse) {
    return ["another program uses the port", `Stop it, or choose another port with ${option}`];
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return ["only root may use ports below 1024", "Choose another port, or see kvdrive install"];
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return ["this machine does not have that address", "Choose one of its own with --hostname"];
  }
  const reason = failureReason(error);
  if (/failed to lookup address/.test(reason)) {
    return ["there is no host of that name", "Choose an address of this machine with --hostname"];
  }
  if (/KeyMismatch/.test(reason)) {
    return ["the key does not belong to the certificate", "Check --tls-cert and --tls-key"];
  }
  if (/certificate|BadEncoding|private key/i.test(reason)) {
    return ["the certificate or its key cannot be read", "Check --tls-cert and --tls-key"];
  }
  return undefined;
}

function onExhausted(): void {
  printError(`${outOfDescriptorsText()}\n`);
}
