import { deadline } from "@std/async/deadline";
import { createApp } from "../app.ts";
import { Gate } from "../gate/gate.ts";
import { PageFiles } from "../http/page_files.ts";
import { RunningUploads } from "../http/running_uploads.ts";
import { WrongKeys } from "../http/wrong_keys.ts";
import { DEFAULT_APPS_PORT } from "../drive/limits.ts";
import { BackupFolder } from "../store/backup_folder.ts";
import { BackupSchedule } from "../store/backup_schedule.ts";
import { Compactor } from "../store/compactor.ts";
import { databasePath, openDatabase, openFolderWarning } from "../store/database.ts";
import { DiskKeeper } from "../store/disk_keeper.ts";
import { DiskSpace, freeBytesOf, unknownVolume, volumeOf } from "../store/disk_space.ts";
import { CannotOpenStore } from "../store/errors.ts";
import { openRemoteDatabase } from "../store/remote_database.ts";
import { Store } from "../store/store.ts";
import { depsOf } from "./app_deps.ts";
import { establish, type GivenCredentials, weaknessesOf, welcomeText } from "./credentials.ts";
import type { ServeOptions } from "./serve_options.ts";
import { Observation } from "./observation.ts";
import { print, printError } from "./output.ts";
import { forOlderRuntimes } from "./runtime.ts";
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
  const { store, keeper } = await openStore(options, observation);
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
      keeper?.start();
    });
  } finally {
    await keeper?.stop();
    await store.close();
    await observation.end();
  }
}

async function openStore(
  { data, kv, uploadTtl, diskReserve }: ServeOptions,
  { onError, store: meter }: Observation,
): Promise<{ store: Store; keeper?: DiskKeeper }> {
  try {
    if (kv !== undefined) {
      const database = await openRemoteDatabase({ url: kv });
      return { store: new Store(database, { uploadTtl, meter, onError }) };
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
    const store = new Store(database, { uploadTtl, disk, compactor, meter, onError });
    if (log === undefined || ballast === undefined) return { store };
    return { store, keeper: new DiskKeeper({ path, ballast, log, disk, freeBytes, onError }) };
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
  const gate = openGate(options, tls, { store, wrongKeys, observation });
  const app = createApp(depsOf(options, observation, {
    store,
    dashboard,
    volume: options.kv === undefined ? volumeOf(options.data) : unknownVolume,
    backups: backups && (() => backups.status()),
    gate: gate && { port: gate.address.port, scheme },
    running,
    wrongKeys,
    isDraining: () => draining,
  }));
  using signal = new ShutdownSignal(() => observation.end());
  const server = listen(options, { ...tls }, app);
  await onReady(
    addressOf(server.addr, scheme),
    gate === undefined ? undefined : addressOf(gate.address, scheme),
  );
  store.sweeper.start();
  backups?.start();
  await signal.first;
  draining = true;
  const drained = Promise.all([drain(server, running), gate?.drain(), backups?.stop()]);
  await deadline(drained, options.shutdownTimeout).catch(ignoreTimeout);
  gate?.stop();
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
  { store, wrongKeys, observation: { watch, onError } }: {
    store: Store;
    wrongKeys: WrongKeys;
    observation: Observation;
  },
): Gate | undefined {
  const { hostname, appsPort, trustedProxies, idleTimeout, appsTimeout } = options;
  if (appsPort === "off") return undefined;
  const port = appsPort ?? DEFAULT_APPS_PORT;
  const deps = { store, wrongKeys, trustedProxies, idleTimeout, appsTimeout, watch, onError };
  try {
    return new Gate(deps, { hostname, port, tls });
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
  { hostname, port }: ServeOptions,
  options: Deno.ServeTcpOptions & Partial<Deno.TlsCertifiedKeyPem>,
  app: (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    // "Bytes are never changed on the way (no compression of ours)."
    const quiet = { automaticCompression: false, onListen: () => {} };
    return Deno.serve({ hostname, port, ...quiet, ...options }, forOlderRuntimes(app));
  } catch (error) {
    throw cannotListen(hostname, port, error);
  }
}
