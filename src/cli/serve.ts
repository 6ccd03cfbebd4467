import { deadline } from "@std/async/deadline";
import { createApp } from "../app.ts";
import { Gate } from "../gate/gate.ts";
import { connectionNetwork } from "../http/client_address.ts";
import { errors, type HttpError } from "../http/http_error.ts";
import { PageFiles } from "../http/page_files.ts";
import { renderError } from "../http/render_error.ts";
import { RunningUploads } from "../http/running_uploads.ts";
import { WrongKeys } from "../http/wrong_keys.ts";
import { NO_ROUTE } from "../http/visit.ts";
import { Clock } from "../http1/clock.ts";
import { Connections } from "../http1/connections.ts";
import { type Handler, HttpServer } from "../http1/server.ts";
import { DEFAULT_APPS_PORT, READER_PATIENCE } from "../drive/limits.ts";
import { BackupFolder } from "../store/backup_folder.ts";
import { BackupSchedule } from "../store/backup_schedule.ts";
import { Compactor } from "../store/compactor.ts";
import { databasePath, openDatabase } from "../store/database.ts";
import { DiskSpace, freeBytesOf, unknownVolume, volumeOf } from "../store/disk_space.ts";
import { CannotOpenStore } from "../store/errors.ts";
import { openRemoteDatabase } from "../store/remote_database.ts";
import { Store } from "../store/store.ts";
import { depsOf } from "./app_deps.ts";
import { freeDescriptors, lowDescriptorsText, outOfDescriptorsText } from "./descriptors.ts";
import { establish, type GivenCredentials, weaknessesOf, welcomeText } from "./credentials.ts";
import type { ServeOptions } from "./serve_options.ts";
import { Observation } from "./observation.ts";
import { print, printError } from "./output.ts";
import { ShutdownSignal } from "./shutdown.ts";
import { readTls, type TlsFiles } from "./tls_files.ts";
import { StartError } from "./usage_error.ts";

/** The page for people. Beside the program, also in an executable that includes it. */
const DASHBOARD = new URL("../dashboard/", import.meta.url);

/**
 * Runs the server until a signal ends it.
 *
 * @throws {UsageError} where a named file cannot be used.
 * @throws {StartError} where the store or the port cannot be.
 */
export async function serve(options: ServeOptions, given: GivenCredentials): Promise<void> {
  const tls = await readTls(options);
  for (const weakness of weaknessesOf(given)) printError(`${weakness}.\n`);
  const dashboard = await PageFiles.load(DASHBOARD);
  const data = options.kv === undefined ? options.data : undefined;
  const observation = new Observation({ log: options.log, data });
  const backups = await openBackups(options, observation);
  const store = await openStore(options, observation);
  const parts = { dashboard, store, observation, backups };
  try {
    await run(options, tls, parts, async (address, appsAddress) => {
      // Secrets are made when nothing can keep them from being shown any more.
      const made = await establish(store.projects, given);
      const curlFlags = tls === undefined ? "" : `--cacert '${options.tlsCert}' `;
      print(welcomeText(made, address, curlFlags));
      if (appsAddress !== undefined) print(`Applications are at ${appsAddress}\n`);
      print(`The dashboard is at ${address}/\n`);
      print(`kvdrive listening on ${address}\n`);
      observation.begin();
    });
  } finally {
    await store.close();
    await observation.end();
  }
}

async function openStore(
  { data, kv, uploadTtl, diskReserve }: ServeOptions,
  { onError, store: meter }: Observation,
): Promise<Store> {
  try {
    if (kv !== undefined) {
      return new Store(await openRemoteDatabase({ url: kv }), { uploadTtl, meter, onError });
    }
    const database = await openDatabase(data);
    const disk = new DiskSpace(freeBytesOf(data), diskReserve);
    const compactor = new Compactor(databasePath(data));
    return new Store(database, { uploadTtl, disk, compactor, meter, onError });
  } catch (error) {
    if (error instanceof CannotOpenStore) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** What the server is made of beside its options. */
interface Parts {
  dashboard: PageFiles;
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
    const reason = error instanceof Error ? error.message : String(error);
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
  const wrongKeys = new WrongKeys();
  const scheme = tls === undefined ? "http" : "https";
  const { trustedProxies, idleTimeout } = options;
  const clock = new Clock();
  const connections = new Connections({
    clock,
    networkOf: (address) => connectionNetwork(address, trustedProxies),
    stallTime: idleTimeout,
  });
  const gate = openGate(options, tls, { store, wrongKeys, observation, connections });
  const app = createApp(depsOf(options, observation, {
    store,
    dashboard,
    volume: options.kv === undefined ? volumeOf(options.data) : unknownVolume,
    gate: gate && { port: gate.address.port, scheme },
    running,
    wrongKeys,
    isDraining: () => draining,
  }));
  using signal = new ShutdownSignal(() => observation.end());
  const server = listen(options, tls, { app, connections, observation });
  await onReady(
    addressOf(server.address, scheme),
    gate === undefined ? undefined : addressOf(gate.address, scheme),
  );
  limitConnections(connections);
  store.sweeper.start();
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
function limitConnections(connections: Connections): void {
  const free = freeDescriptors();
  if (free === undefined) return;
  connections.limitTo(free);
  printError(`${lowDescriptorsText(free)}\n`);
}

/** Ends when running transfers have. The runtime's shutdown cuts bodies that are being sent, so it waits for those. */
export async function drain(server: Deno.HttpServer, running: RunningUploads): Promise<void> {
  await running.none();
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
  { store, wrongKeys, observation: { watch, onError }, connections }: {
    store: Store;
    wrongKeys: WrongKeys;
    observation: Observation;
    connections: Connections;
  },
): Gate | undefined {
  const { hostname, appsPort, trustedProxies, idleTimeout, appsTimeout } = options;
  if (appsPort === "off") return undefined;
  const port = appsPort ?? DEFAULT_APPS_PORT;
  const patience = { trustedProxies, idleTimeout, appsTimeout };
  const deps = { store, wrongKeys, ...patience, watch, onError, onExhausted };
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
  const reason = error instanceof Error ? error.message : String(error);
  return new StartError(`Cannot listen on ${hostname}:${port}: ${reason}`, { cause: error });
}

function listen(
  { hostname, port, idleTimeout }: ServeOptions,
  tls: TlsFiles | undefined,
  { app, connections, observation: { watch, onError } }: {
    app: Handler;
    connections: Connections;
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
      patience: idleTimeout * READER_PATIENCE,
      handler: app,
      answerMalformed: ({ status, message }) =>
        refuse(errors.malformed(status === 431 ? 431 : 400, message)),
      answerFull: () => refuse(errors.serverFull()),
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
