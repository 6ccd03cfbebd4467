import { Gate } from "../../gate/gate.ts";
import { renderError } from "../../http/error_response.ts";
import { errors, type HttpError } from "../../http/http_error.ts";
import { NO_ROUTE } from "../../http/request_context.ts";
import { READER_PATIENCE } from "../../http/responses/response_stream.ts";
import type { ConnectionTable } from "../../http1/connection_table.ts";
import type { PortSharing } from "../../http1/listener.ts";
import type { CertificateSource, TlsCertificate } from "../../http1/tls/tls_end.ts";
import { type Handler, HttpServer } from "../../http1/server.ts";
import { failureReason } from "../../rules/system_error.ts";
import type { Observation } from "../../server/observation.ts";
import type { S3Responder } from "../../server/responders.ts";
import type { Server } from "../../server/server.ts";
import { DEFAULT_APPS_PORT, type ServeOptions } from "../options/serve_options.ts";
import { printError, StartError } from "../terminal/output.ts";
import { outOfDescriptorsText } from "./machine.ts";

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
  option: string;
  refusal: S3Responder["refusal"];
}

/** Where the server has its certificate from; `undefined` for plain connections. */
type Tls = TlsCertificate | CertificateSource | undefined;

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
  { store, wrongKeys, hosts, upstreamRules }: Server,
  { observation: { observer, onError }, connections, sharing }: Omit<ListenParts, "app">,
): Gate | undefined {
  const { hostname, appsPort, trustedProxies, idleTimeout, appsTimeout, appsIdleTimeout, hsts } =
    options;
  if (appsPort === "off") return undefined;
  const port = appsPort ?? DEFAULT_APPS_PORT;
  const timeouts = { trustedProxies, idleTimeout, appsTimeout, appsIdleTimeout };
  const policy = { wrongKeys, hosts, upstreamRules };
  const deps = { store, ...policy, ...timeouts, hsts, observer, onError, onExhausted };
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
