import { deadline } from "@std/async/deadline";
import { createApp } from "../../app.ts";
import { Gate } from "../../gate/gate.ts";
import { errors, type HttpError, renderError } from "../../http/http_error.ts";
import { connectionNetwork } from "../../http/network/client_address.ts";
import { UpstreamRules } from "../../http/network/upstream_rules.ts";
import { WrongKeyLimiter } from "../../http/network/wrong_keys.ts";
import { NO_ROUTE } from "../../http/request_context.ts";
import { READER_PATIENCE } from "../../http/response_stream.ts";
import { StaticFiles } from "../../http/static_files.ts";
import { RunningUploads } from "../../http/upload_slots.ts";
import { Clock, ConnectionTable } from "../../http1/connection_table.ts";
import { type Handler, HttpServer } from "../../http1/server.ts";
import { HostRules } from "../../rules/hosts.ts";
import { failureReason } from "../../rules/system_error.ts";
import { BackupFolder } from "../../store/backup/backup_folder.ts";
import { BackupSchedule } from "../../store/backup/backup_schedule.ts";
import { DiskKeeper } from "../../store/disk/disk_keeper.ts";
import { DiskSpace } from "../../store/disk/disk_space.ts";
import { freeBytesOf, unknownVolume, volumeOf } from "../../store/disk/volume.ts";
import { databasePath, openDatabase, openFolderWarning } from "../../store/engine/database_file.ts";
import { CannotOpenStore } from "../../store/engine/errors.ts";
import { Compactor } from "../../store/maintenance/compactor.ts";
import { DEFAULT_SCRUB_EVERY } from "../../store/maintenance/scrub.ts";
import { openRemoteDatabase } from "../../store/remote/remote_database.ts";
import { Store } from "../../store/store.ts";
import { DEFAULT_APPS_PORT, type ServeOptions, serverNames } from "../options/serve_options.ts";
import { StartError } from "../terminal/errors.ts";
import { announce, printError } from "../terminal/output.ts";
import { appDeps } from "./app_deps.ts";
import { applyCredentials, type ConfiguredCredentials, startMessage } from "./credentials.ts";
import {
  createMemoryBudget,
  freeDescriptors,
  lowDescriptorsText,
  outOfDescriptorsText,
  WANTED_DESCRIPTORS,
  WANTED_TLS_DESCRIPTORS,
} from "./machine.ts";
import { Observation } from "./observation.ts";
import { certificateWarning, readTls, type TlsFiles } from "./tls_files.ts";

/** Exit statuses of programs that a signal ended: 128 and the signal's number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Windows has no SIGTERM. */
function isKnown([name]: [string, number]): boolean {
  return Deno.build.os !== "windows" || name === "SIGINT";
}

/** Listens for SIGTERM and SIGINT from the call on until it is disposed of. A second signal ends the process at once. */
export class ShutdownSignal implements Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  readonly #stopListening: (() => void)[];

  /** @param beforeEnd Done before a second signal ends the process; it must not take long. */
  constructor(beforeEnd: () => Promise<void> = () => Promise.resolve()) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    let isFirst = true;
    this.#stopListening = Object.entries(SIGNALS).filter(isKnown).map(([name, status]) => {
      const listener = () => {
        if (!isFirst) beforeEnd().finally(() => Deno.exit(status));
        isFirst = false;
        resolve();
      };
      const signal = name as keyof typeof SIGNALS;
      Deno.addSignalListener(signal, listener);
      return () => Deno.removeSignalListener(signal, listener);
    });
  }

  [Symbol.dispose](): void {
    this.#stopListening.forEach((stop) => stop());
  }
}

/** The page for people. Beside the program, also in an executable that includes it. */
const DASHBOARD = new URL("../../dashboard/", import.meta.url);

/**
 * Runs the server until a signal ends it.
 *
 * @throws {UsageError} where a named file cannot be used.
 * @throws {StartError} where the store or the port cannot be.
 */
export async function serve(options: ServeOptions, given: ConfiguredCredentials): Promise<void> {
  const tls = await readTls(options);
  const expiry = tls && certificateWarning(tls.cert);
  if (expiry !== undefined) printError(`${expiry}.\n`);
  const dashboard = await StaticFiles.load(DASHBOARD);
  const data = options.kv === undefined ? options.data : undefined;
  const observation = new Observation({ log: options.log, data });
  const backups = await openBackups(options, observation);
  const { store, keeper } = await openStore(options, observation);
  const parts = { dashboard, store, observation, backups };
  try {
    await run(options, tls, parts, async (address, appsAddress) => {
      // Secrets are made when nothing can keep them from being shown any more.
      const made = await applyCredentials(store.projects, given);
      const curlFlags = tls === undefined ? "" : `--cacert '${options.tlsCert}' `;
      announce(startMessage(made, address, curlFlags));
      if (appsAddress !== undefined) announce(`Applications are at ${appsAddress}\n`);
      announce(`The dashboard is at ${address}/\n`);
      announce(`kvdrive listening on ${address}\n`);
      observation.begin();
      keeper?.start();
    });
  } finally {
    await keeper?.stop();
    await store.close();
    await observation.end();
  }
}

async function openStore(
  options: ServeOptions,
  { onError, onNotice, store: meter }: Observation,
): Promise<{ store: Store; keeper?: DiskKeeper }> {
  const { data, kv, uploadTtl, maxOpenUploads, diskReserve } = options;
  const memory = createMemoryBudget(options);
  const both = { uploadTtl, maxOpenUploads, memory, meter, onError, onNotice };
  try {
    if (kv !== undefined) {
      const scrubEvery = options.scrubEvery === "off" ? undefined : options.scrubEvery;
      return { store: new Store(await openRemoteDatabase({ url: kv }), { ...both, scrubEvery }) };
    }
    const database = await openDatabase(data);
    const warning = await openFolderWarning(data);
    if (warning !== undefined) printError(`${warning}.\n`);
    const { log, ballast } = database;
    const path = databasePath(data);
    const freeBytes = freeBytesOf(data);
    const growth = () => log?.growth() ?? 0;
    const disk = new DiskSpace(freeBytes, diskReserve, { growth, ...(ballast && { ballast }) });
    const compactor = new Compactor(path);
    const scrubEvery = options.scrubEvery === "off"
      ? undefined
      : options.scrubEvery ?? DEFAULT_SCRUB_EVERY;
    const store = new Store(database, { ...both, disk, compactor, scrubEvery });
    if (log === undefined || ballast === undefined) return { store };
    return { store, keeper: new DiskKeeper({ path, ballast, log, disk, freeBytes, onError }) };
  } catch (error) {
    if (error instanceof CannotOpenStore) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** What the server is made of beside its options. */
interface Parts {
  dashboard: StaticFiles;
  store: Store;
  observation: Observation;
  backups: BackupSchedule | undefined;
}

async function openBackups(
  { backups, data, diskReserve }: ServeOptions,
  { onError }: Observation,
): Promise<BackupSchedule | undefined> {
  if (backups === undefined) return undefined;
  const folder = new BackupFolder(backups.folder);
  try {
    await folder.prepare();
  } catch (error) {
    const reason = failureReason(error);
    const message = `Cannot use the folder of --backup-dir, ${backups.folder}: ${reason}`;
    throw new StartError(message, { cause: error });
  }
  const { every, keep } = backups;
  const source = databasePath(data);
  return new BackupSchedule({ source, folder, every, keep, reserve: diskReserve, onError });
}

/** Serves until the first signal, then until running transfers have ended or their time is over. */
async function run(
  options: ServeOptions,
  tls: TlsFiles | undefined,
  { dashboard, store, observation, backups }: Parts,
  onReady: (address: string, appsAddress: string | undefined) => Promise<void>,
): Promise<void> {
  let draining = false;
  const running = new RunningUploads();
  const wrongKeys = new WrongKeyLimiter();
  const scheme = tls === undefined ? "http" : "https";
  const { trustedProxies, idleTimeout } = options;
  const clock = new Clock();
  const connections = new ConnectionTable({
    clock,
    networkOf: (address) => connectionNetwork(address, trustedProxies),
    stallTime: idleTimeout,
  });
  const hosts = await HostRules.load(serverNames(options));
  const ownPorts = new Set<number>();
  const upstreamRules = new UpstreamRules(options.allowedUpstreams, ownPorts);
  const policy = { hosts, upstreamRules };
  const gate = openGate(options, tls, { store, wrongKeys, observation, connections, policy });
  const app = createApp(appDeps(options, observation, {
    store,
    dashboard,
    volume: options.kv === undefined ? volumeOf(options.data) : unknownVolume,
    backups: backups && (() => backups.status()),
    gate: gate && { port: gate.address.port, scheme },
    hosts,
    upstreamRules,
    running,
    wrongKeys,
    isDraining: () => draining,
  }));
  using signal = new ShutdownSignal(() => observation.end());
  const server = listen(options, tls, { app, connections, observation });
  for (const address of [server.address, gate?.address]) if (address) ownPorts.add(address.port);
  await onReady(
    addressOf(server.address, scheme),
    gate === undefined ? undefined : addressOf(gate.address, scheme),
  );
  limitConnections(connections, tls === undefined ? WANTED_DESCRIPTORS : WANTED_TLS_DESCRIPTORS);
  store.sweeper.start();
  store.scrub.start();
  backups?.start();
  await signal.first;
  draining = true;
  const drained = Promise.all([server.drain(), gate?.drain(), backups?.stop()]);
  await deadline(drained, options.shutdownTimeout).catch(ignoreTimeout);
  server.stop();
  gate?.stop();
  clock.stop();
}

/** Leaves descriptors for the store, and says so where they are few. */
function limitConnections(connections: ConnectionTable, wanted: number): void {
  const free = freeDescriptors(wanted);
  if (free === undefined) return;
  connections.limitDescriptors(free);
  printError(`${lowDescriptorsText(free, wanted)}\n`);
}

/** Ends when running transfers have. The runtime's shutdown cuts bodies that are being sent, so it waits for those. */
export async function drain(server: Deno.HttpServer, running: RunningUploads): Promise<void> {
  await running.whenIdle();
  await server.shutdown();
}

/** Whatever runs still after its time is cut by the end of the process. */
export function ignoreTimeout(error: unknown): void {
  if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
}

function addressOf({ hostname, port }: Deno.NetAddr, scheme: string): string {
  return `${scheme}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function openGate(
  options: ServeOptions,
  tls: TlsFiles | undefined,
  { store, wrongKeys, observation: { watch, onError }, connections, policy }: {
    store: Store;
    wrongKeys: WrongKeyLimiter;
    observation: Observation;
    connections: ConnectionTable;
    policy: { hosts: HostRules; upstreamRules: UpstreamRules };
  },
): Gate | undefined {
  const { hostname, appsPort, trustedProxies, idleTimeout, appsTimeout } = options;
  if (appsPort === "off") return undefined;
  const port = appsPort ?? DEFAULT_APPS_PORT;
  const patience = { trustedProxies, idleTimeout, appsTimeout };
  const deps = { store, wrongKeys, ...policy, ...patience, observer: watch, onError, onExhausted };
  try {
    return new Gate(deps, connections, { hostname, port, tls });
  } catch (error) {
    const failure = cannotListen(hostname, port, error);
    // Nobody chose the port, and who stores files alone has no need of it.
    if (appsPort !== undefined) throw failure;
    printError(`${failure.message}. There is no gate to applications: see --apps-port.\n`);
    return undefined;
  }
}

function cannotListen(hostname: string, port: number, error: unknown): StartError {
  const [problem, advice] = listenProblem(error) ?? [failureReason(error), undefined];
  const message = `Cannot listen on ${hostname}:${port}: ${problem}`;
  return new StartError(advice === undefined ? message : `${message}; ${advice}`, { cause: error });
}

/** What keeps a server from listening, and what helps. */
function listenProblem(error: unknown): [problem: string, advice: string] | undefined {
  if (error instanceof Deno.errors.AddrInUse) {
    return ["another program listens there", "end it, or name another port"];
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return ["only root may use ports below 1024", "name another port, or see kvdrive install"];
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return ["this machine does not have that address", "name one of its own with --hostname"];
  }
  const reason = failureReason(error);
  if (/failed to lookup address/.test(reason)) {
    return ["there is no host of that name", "name an address of this machine with --hostname"];
  }
  if (/KeyMismatch/.test(reason)) {
    return ["the key does not belong to the certificate", "check --tls-cert and --tls-key"];
  }
  if (/certificate|BadEncoding|private key/i.test(reason)) {
    return ["the certificate or its key cannot be read", "check --tls-cert and --tls-key"];
  }
  return undefined;
}

function listen(
  { hostname, port, idleTimeout }: ServeOptions,
  tls: TlsFiles | undefined,
  { app, connections, observation: { watch, onError } }: {
    app: Handler;
    connections: ConnectionTable;
    observation: Observation;
  },
): HttpServer {
  const refuse = (error: HttpError): Response => {
    const visit = watch.begin(crypto.randomUUID(), "");
    const response = renderError(error);
    response.headers.set("X-Request-Id", visit.id);
    watch.route(visit, NO_ROUTE, "other");
    visit.status = response.status;
    watch.end(visit);
    return response;
  };
  try {
    return new HttpServer({ hostname, port, tls }, {
      connections,
      writeTimeout: idleTimeout * READER_PATIENCE,
      handler: app,
      respondMalformed: ({ status, message }) =>
        refuse(errors.malformed(status === 431 ? 431 : 400, message)),
      respondFull: () => refuse(errors.serverFull()),
      onError,
      onExhausted,
    });
  } catch (error) {
    throw cannotListen(hostname, port, error);
  }
}

function onExhausted(): void {
  printError(`${outOfDescriptorsText()}\n`);
}
