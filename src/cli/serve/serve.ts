import { deadline } from "@std/async/deadline";
import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import { connectionNetwork } from "../../http/network/client_address.ts";
import { withHsts } from "../../http/browser_headers.ts";
import { Clock, ConnectionTable } from "../../http1/connection_table.ts";
import type { Handler, HttpServer } from "../../http1/server.ts";
import type { CertificateSource } from "../../http1/tls/tls_end.ts";
import { SECOND } from "../../rules/units.ts";
import {
  type ConfiguredCredentials,
  createCredentials,
  readCredentials,
  storeCredentials,
} from "../../server/credentials.ts";
import { loadDashboard } from "../../server/dashboard.ts";
import { logFormatOf, standardLog } from "../../server/log.ts";
import { Observation } from "../../server/observation.ts";
import { type Responders, s3Address } from "../../server/responders.ts";
import { Server } from "../../server/server.ts";
import { openFolderWarning } from "../../store/disk/store_files.ts";
import { buildKind } from "../../version.ts";
import { openS3Secret } from "../options/s3_secret.ts";
import { readServeOptions, type ServeOptions, serverNames } from "../options/serve_options.ts";
import { announce, type Environment, printError } from "../terminal/output.ts";
import { plural } from "../terminal/text.ts";
import { openBackups, type ServerBackups } from "./backups/server_backups.ts";
import {
  certificateWarnings,
  Https,
  listenPlain,
  type PreparedHttps,
  prepareHttps,
} from "./https.ts";
import { listen, type ListenParts, listenS3, openGate, urlOf } from "./listen.ts";
import {
  countDescriptors,
  keepFreedMemory,
  lowDescriptorsText,
  WANTED_DESCRIPTORS,
  WANTED_TLS_DESCRIPTORS,
} from "./machine.ts";
import { NpxParent, ShutdownSignal } from "./processes/shutdown_signal.ts";
import {
  LONE_PROCESS,
  partOf,
  peersOf,
  type ServerProcess,
  sharingOf,
} from "./processes/worker.ts";
import {
  certificateProblem,
  certificateStatus,
  readTls,
  type TlsFiles,
  warnOfCertificate,
} from "./tls_files.ts";
import { type Addresses, announceStart } from "./welcome.ts";
import { variableOf } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import { SERVE_OPTIONS } from "../options/configuration.ts";

/** Ignores a timeout: the end of the process aborts what is still running. */
export function ignoreTimeout(error: unknown): void {
  if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
}

/**
 * Runs the server, or one of its processes, until a signal ends it.
 *
 * @throws {UsageError} if a configured file cannot be used.
 * @throws {CannotOpenStore} if the store cannot be opened.
 * @throws {StartError} if the port cannot be opened.
 */
export async function serve(
  options: ServeOptions,
  credentials: ConfiguredCredentials,
  env: Environment,
  peers: ServerProcess = LONE_PROCESS,
): Promise<void> {
  keepFreedMemory();
  const tls = await readTls(options);
  if (peers.isLeader) warnOfCertificate(tls);
  const acme = await prepareHttps(options);
  const settings = partOf(acme?.options ?? options, peers);
  const data = options.kv === undefined ? options.data : undefined;
  const log = standardLog(logFormatOf(options), peers.count);
  const observation = new Observation({ log, data, build: buildKind(env), peers });
  const backups = peers.isLeader ? await openBackups(options, observation, env) : undefined;
  const server = await Server.open(data === undefined ? { url: options.kv } : { folder: data }, {
    settings,
    observation,
    names: serverNames(settings),
    dashboard: await loadDashboard(),
    s3SecretKey: await openS3Secret(options, env),
  });
  try {
    if (peers.isLeader) server.warnings.forEach((warning) => printError(`${warning}.\n`));
    const isFirst = sharingOf(peers) !== "further";
    const prepare = async () => {
      if (isFirst) await storeCredentials(server.store, credentials, options);
    };
    const parts = { server, process: peers, observation, backups, env, prepare };
    await run(settings, { tls, acme }, parts, async (addresses) => {
      if (isFirst) {
        // Last, so that no failure can keep new secrets from being shown.
        const created = await createCredentials(server.store, credentials, options);
        const curlFlags = tls === undefined ? "" : `--cacert '${options.tlsCert}' `;
        await announceStart({ ...addresses, created, curlFlags }, server.store, options, env);
      }
      log.open();
    });
  } finally {
    await server.close();
    await log.close();
  }
}

/** The parts of the server that exist before it listens. */
interface Parts {
  server: Server;
  process: ServerProcess;
  observation: Observation;
  backups: ServerBackups | undefined;
  env: Environment;
  /** Prepares the store for the first request, once the ports are open: a server that cannot start changes nothing. */
  prepare: () => Promise<void>;
}

/** Where the certificates come from: files, an authority, or neither. */
interface TlsConfiguration {
  tls: TlsFiles | undefined;
  acme: PreparedHttps | undefined;
}

/** Serves until the first signal, then until running transfers have ended, at most for the shutdown timeout. */
async function run(
  options: ServeOptions,
  { tls, acme }: TlsConfiguration,
  { server, process, observation, backups, env, prepare }: Parts,
  onReady: (addresses: Addresses) => Promise<void>,
): Promise<void> {
  const clock = new Clock();
  const connections = connectionTable(options, clock, process.count);
  const sharing = sharingOf(process);
  const parts = { observation, connections, sharing };
  const https = await Https.open(acme && { ...acme, options, acme: options.acme ?? acme.acme }, {
    ...parts,
    server,
  });
  const certificates = https?.keeper ?? tls;
  const scheme = certificates === undefined ? "http" : "https";
  const gate = openGate(options, certificates, server, parts);
  const shortages: string[] = [];
  const responders = await server.responders({
    gate: gate && { port: gate.address.port, scheme },
    // Its port may be one that the system chose.
    s3Port: () => ({ port: s3?.address.port, scheme }),
    ...backups?.status,
    ...process.isLeader ? reportsOf(options, tls, https, shortages) : {},
  });
  using signal = new ShutdownSignal(() => observation.log.close(), (one) => process.onSignals(one));
  // The parent of several processes looks for its own.
  using npx = new NpxParent(process.count === 1 ? env : {});
  const prepared = Promise.withResolvers<void>();
  const app = heldUntil(prepared.promise, responders.app);
  const { main, s3, plain } = openPorts(options, certificates, { ...responders, app }, parts);
  try {
    await prepare();
  } finally {
    prepared.resolve();
  }
  const s3Port = s3?.address.port;
  const ports = { server: main.address.port, gate: gate?.address.port };
  for (const port of [...Object.values(ports), s3Port, plain?.address.port, https?.port]) {
    if (port !== undefined) server.ownPorts.add(port);
  }
  const urls = https?.start(ports);
  const address = urls?.server ?? urlOf(main.address, scheme);
  const others = { s3: s3Port, plain: plain?.address.port, http: https?.port };
  if (await process.ready({ ...ports, ...others })) {
    if (https?.port !== undefined && !options.json && sharing !== "further") {
      announce(`Port ${https.port} redirects to https\n`);
    }
    await onReady({
      address,
      appsAddress: gate && (urls?.gate ?? urlOf(gate.address, scheme)),
      s3Address: s3Address(
        { domain: s3 === undefined ? options.s3Domain : undefined, port: s3Port, scheme },
        address,
      ),
    });
    const wanted = certificates === undefined ? WANTED_DESCRIPTORS : WANTED_TLS_DESCRIPTORS;
    const onLow = (text: string) => void shortages.push(text);
    limitConnections(connections, wanted, process, onLow).catch(observation.onError);
    server.start();
    backups?.start();
  }
  await Promise.race([signal.first, npx.gone]);
  server.stopAccepting();
  announceEnd(observation, options.shutdownTimeout);
  await drainServers([main, s3, plain, gate], [backups, https], options.shutdownTimeout);
  clock.stop();
}

/** Returns what one process knows of the certificates and the files of all. */
function reportsOf(
  options: ServeOptions,
  tls: TlsFiles | undefined,
  https: Https | undefined,
  shortages: readonly string[],
): { warnings: () => Promise<string[]>; certificates: (() => CertificateStatus[]) | undefined } {
  const ofFiles = tls && (() => certificateStatus(tls));
  return {
    warnings: async () => [
      ...await fileWarnings(options, tls),
      ...certificateWarnings(https?.status() ?? []),
      ...shortages,
    ],
    certificates: https === undefined ? ofFiles : () => https.status(),
  };
}

/** Says what a shutdown waits for, if it does. @param timeout Milliseconds. */
function announceEnd(observation: Observation, timeout: number): void {
  const count = Object.values(observation.running()).reduce((sum, one) => sum + one, 0);
  if (count === 0) return;
  const requests = plural(count, "running request");
  observation.onNotice(
    `Finishing ${requests}, for at most ${
      timeout / SECOND
    } s. A second signal, such as Ctrl-C, ends the server at once`,
  );
}

/** Lets requests wait: before the configured keys are stored, they would be unknown. */
function heldUntil(prepared: Promise<void>, app: Handler): Handler {
  let isPrepared = false;
  void prepared.then(() => isPrepared = true);
  return async (request, info) => {
    if (!isPrepared) await prepared;
    return await app(request, info);
  };
}

/** Listens for the API, for S3 if it has a port, and for plain HTTP besides https. @throws {StartError} if that fails. */
function openPorts(
  options: ServeOptions,
  certificates: CertificateSource | TlsFiles | undefined,
  { app, s3 }: Responders,
  parts: Omit<ListenParts, "app">,
): { main: HttpServer; s3: HttpServer | undefined; plain: HttpServer | undefined } {
  const secured = (handler: Handler) => options.hsts ? withHsts(handler) : handler;
  const option = options.acme === undefined ? "--port" : "--https-port";
  return {
    main: listen(options, certificates, { ...parts, app: secured(app) }, { option }),
    s3: s3 && listenS3(options, certificates, { ...s3, handler: secured(s3.handler) }, parts),
    plain: listenPlain(options, { ...parts, app }),
  };
}

function connectionTable(
  { trustedProxies, idleTimeout }: ServeOptions,
  clock: Clock,
  processes: number,
): ConnectionTable {
  return new ConnectionTable({
    clock,
    processes,
    networkOf: (address) => connectionNetwork(address, trustedProxies),
    stallTime: idleTimeout,
  });
}

/** Lets servers end their connections, at most for a time in milliseconds, and stops what runs beside them. */
async function drainServers(
  servers: readonly (Pick<HttpServer, "drain" | "stop"> | undefined)[],
  others: readonly ({ stop(): Promise<void> } | undefined)[],
  timeout: number,
): Promise<void> {
  const ends = [...servers.map((one) => one?.drain()), ...others.map((one) => one?.stop())];
  await deadline(Promise.all(ends), timeout).catch(ignoreTimeout);
  for (const server of servers) server?.stop();
}

/** Returns what the operator should know about the data folder and the certificate now. */
async function fileWarnings(
  { kv, data }: ServeOptions,
  tls: TlsFiles | undefined,
): Promise<string[]> {
  const warnings = [
    kv === undefined ? await openFolderWarning(data) : undefined,
    tls && certificateProblem(tls.cert),
  ];
  return warnings.filter((warning) => warning !== undefined);
}

/** Limits connections if file descriptors are few, with a warning. */
async function limitConnections(
  connections: ConnectionTable,
  wanted: number,
  { isLeader }: ServerProcess,
  onLow: (text: string) => void,
): Promise<void> {
  await countDescriptors(wanted, {
    onLow: (free) => {
      connections.limitDescriptors(free);
      // Each process has the same limit of its own.
      if (!isLeader) return;
      const text = lowDescriptorsText(free, wanted);
      printError(`Warning: ${text.replace("Only", "only")}.\n`);
      onLow(text);
    },
    onHeld: (release) => connections.spareDescriptors(release),
  });
}

export async function runServe({ options }: Arguments, env: Environment): Promise<void> {
  const settings = readServeOptions(options, env);
  const peers = peersOf(env);
  if (peers === undefined) warnOfSecrets(options);
  if (peers === undefined && settings.processes > 1) {
    const { superviseServer } = await import("./processes/supervisor.ts");
    return await superviseServer(settings, Deno.args, env);
  }
  await serve(settings, readCredentials(env), env, peers);
}

/** Warns about secrets on the command line, which every user of the machine can read while the server runs. */
function warnOfSecrets(options: ReadonlyMap<string, string>): void {
  for (const { name, isSecret } of SERVE_OPTIONS) {
    if (!isSecret || !options.has(name)) continue;
    const advice = `use the variable ${variableOf(name)} instead`;
    printError(
      `Warning: other users of this machine can read the value of --${name}: ${advice}.\n`,
    );
  }
}
