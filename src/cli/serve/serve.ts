import { deadline } from "@std/async/deadline";
import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import { connectionNetwork } from "../../http/network/client_address.ts";
import { UpstreamRules } from "../../http/network/upstream_rules.ts";
import type { StaticFiles } from "../../http/responses/static_files.ts";
import { withHsts } from "../../http/network/hsts.ts";
import { RunningUploads } from "../../http/upload_slots.ts";
import { Clock, ConnectionTable } from "../../http1/connection_table.ts";
import type { Handler, HttpServer } from "../../http1/server.ts";
import type { CertificateSource } from "../../http1/tls/tls_certificates.ts";
import { HostRules } from "../../rules/hosts.ts";
import { failureReason } from "../../rules/system_error.ts";
import { SECOND } from "../../rules/units.ts";
import { BackupFolder } from "../../store/backup/backup_folder.ts";
import { BackupSchedule } from "../../store/backup/backup_schedule.ts";
import { DiskKeeper } from "../../store/disk/disk_keeper.ts";
import { DiskSpace } from "../../store/disk/disk_space.ts";
import { freeBytesOf, unknownVolume, volumeOf } from "../../store/disk/volume.ts";
import { databasePath, openFolderWarning } from "../../store/disk/store_files.ts";
import { openDatabase } from "../../store/engine/database_file.ts";
import { CannotOpenStore } from "../../store/engine/errors.ts";
import { Compactor } from "../../store/maintenance/compactor.ts";
import { DEFAULT_SCRUB_EVERY } from "../../store/maintenance/scrub.ts";
import { openRemoteDatabase } from "../../store/remote/remote_database.ts";
import { type BackgroundPart, Store } from "../../store/store.ts";
import { converter } from "../../store/upgrade/upgrade.ts";
import { buildKind } from "../../version.ts";
import { openS3Secret, warnOfS3Secret } from "../options/s3_secret.ts";
import { type ServeOptions, serverNames } from "../options/serve_options.ts";
import { announce, type Environment, printError, StartError } from "../terminal/output.ts";
import { plural } from "../terminal/text.ts";
import { appDeps } from "./app_deps.ts";
import { applyCredentials, type ConfiguredCredentials } from "./credentials.ts";
import {
  certificateWarnings,
  Https,
  listenPlain,
  type PreparedHttps,
  prepareHttps,
} from "./https.ts";
import {
  listen,
  type ListenParts,
  listenS3,
  openGate,
  type Responders,
  respondersOf,
  s3Address,
  urlOf,
} from "./listen.ts";
import {
  countDescriptors,
  createMemoryBudget,
  keepFreedMemory,
  lowDescriptorsText,
  WANTED_DESCRIPTORS,
  WANTED_TLS_DESCRIPTORS,
} from "./machine.ts";
import { NpxParent } from "./npx_parent.ts";
import { logFormatOf, Observation } from "./observation.ts";
import { ShutdownSignal } from "./processes/shutdown_signal.ts";
import { commonLimiter, partOf, sharingOf } from "./processes/shares.ts";
import { NO_PEERS, type Peers } from "./processes/worker.ts";
import { loadDashboard } from "./dashboard.ts";
import {
  certificateProblem,
  certificateStatus,
  readTls,
  type TlsFiles,
  warnOfCertificate,
} from "./tls_files.ts";
import { type Addresses, announceStart } from "./welcome.ts";

/** Shuts a server of the runtime down once uploads have ended, as its shutdown aborts request bodies. */
export async function drain(server: Deno.HttpServer, running: RunningUploads): Promise<void> {
  await running.whenIdle();
  await server.shutdown();
}

/** Ignores a timeout: the end of the process aborts what is still running. */
export function ignoreTimeout(error: unknown): void {
  if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
}

/**
 * Runs the server, or one of its processes, until a signal ends it.
 *
 * @throws {UsageError} if a configured file cannot be used.
 * @throws {StartError} if the store or the port cannot be opened.
 */
export async function serve(
  options: ServeOptions,
  credentials: ConfiguredCredentials,
  env: Environment,
  peers: Peers = NO_PEERS,
): Promise<void> {
  keepFreedMemory();
  const tls = await readTls(options);
  if (peers.isLeader) warnOfCertificate(tls);
  const acme = await prepareHttps(options);
  const dashboard = await loadDashboard();
  const data = options.kv === undefined ? options.data : undefined;
  const build = buildKind(env);
  const observation = new Observation({ log: logFormatOf(options), data, build, peers });
  const backups = peers.isLeader ? await openBackups(options, observation) : undefined;
  const { store, keeper } = await openStore(options, observation, env);
  const parts = { dashboard, store, observation, backups, env };
  try {
    await run(acme?.options ?? options, { tls, acme }, parts, async (addresses) => {
      if (sharingOf(peers) !== "further") {
        // Last, so that no failure can keep new secrets from being shown.
        const created = await applyCredentials(store, credentials);
        const curlFlags = tls === undefined ? "" : `--cacert '${options.tlsCert}' `;
        await announceStart({ ...addresses, created, curlFlags }, store, options, env);
      }
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
  { onError, onNotice, store: meter, peers }: Observation,
  env: Environment,
): Promise<{ store: Store; keeper?: DiskKeeper }> {
  const { data, kv, uploadTtl, maxOpenUploads, diskReserve } = options;
  const memory = createMemoryBudget(options, peers.count);
  const wakeOther = peers.isLeader ? undefined : (part: BackgroundPart) => peers.tell("wake", part);
  const s3SecretKey = await openS3Secret(options, env);
  const convert = converter({ onNotice, reserve: diskReserve });
  const limits = { uploadTtl, maxOpenUploads, memory };
  const common = { ...limits, s3SecretKey, meter, wakeOther, onError, onNotice };
  try {
    if (kv !== undefined) {
      if (peers.isLeader) await warnOfS3Secret(s3SecretKey);
      const scrubEvery = options.scrubEvery === "off" ? undefined : options.scrubEvery;
      return {
        store: new Store(await openRemoteDatabase({ url: kv, convert }), { ...common, scrubEvery }),
      };
    }
    const database = await openDatabase(data, options.reads, convert);
    if (peers.isLeader) {
      for (const warning of [await openFolderWarning(data), database.notice]) {
        if (warning !== undefined) printError(`${warning}.\n`);
      }
      await warnOfS3Secret(s3SecretKey);
    }
    const { logs, ballast } = database;
    const paths = logs.map(({ path }) => path);
    const freeBytes = freeBytesOf(data);
    const growth = () => logs.reduce((sum, log) => sum + log.growth(), 0);
    const truncateLogs = async (): Promise<void> => await keeper?.truncateLogs();
    const needs = { growth, truncateLogs, ...(ballast && { ballast }) };
    const disk = new DiskSpace(freeBytes, diskReserve, needs);
    const keeper = ballast && new DiskKeeper({ ballast, logs, disk, freeBytes, onError });
    const compactor = new Compactor(paths);
    const scrubEvery = options.scrubEvery === "off"
      ? undefined
      : options.scrubEvery ?? DEFAULT_SCRUB_EVERY;
    const store = new Store(database, { ...common, disk, compactor, scrubEvery });
    return { store, ...(keeper && peers.isLeader && { keeper }) };
  } catch (error) {
    if (error instanceof CannotOpenStore) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** The parts of the server that exist before it listens. */
interface Parts {
  dashboard: StaticFiles;
  store: Store;
  observation: Observation;
  backups: BackupSchedule | undefined;
  env: Environment;
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
    const message = `Cannot use ${backups.folder}, the folder of --backup-dir: ${reason}`;
    throw new StartError(message, { cause: error });
  }
  const { every, keep } = backups;
  const source = databasePath(data);
  return new BackupSchedule({ source, folder, every, keep, reserve: diskReserve, onError });
}

/** Where the certificates come from: files, an authority, or neither. */
interface TlsConfiguration {
  tls: TlsFiles | undefined;
  acme: PreparedHttps | undefined;
}

/** Serves until the first signal, then until running transfers have ended, at most for the shutdown timeout. */
async function run(
  whole: ServeOptions,
  { tls, acme }: TlsConfiguration,
  { dashboard, store, observation, backups, env }: Parts,
  onReady: (addresses: Addresses) => Promise<void>,
): Promise<void> {
  const { peers } = observation;
  const options = partOf(whole, peers);
  const { publicUrl, s3Domain } = options;
  let draining = false;
  const running = new RunningUploads();
  const wrongKeys = commonLimiter(peers, "wrong_key");
  const clock = new Clock();
  const connections = connectionTable(options, clock, peers.count);
  const hosts = await HostRules.load(serverNames(options));
  const ownPorts = new Set<number>();
  const upstreamRules = new UpstreamRules(options.allowedUpstreams, ownPorts);
  const sharing = sharingOf(peers);
  const https = await Https.open(acme && { ...acme, options, acme: options.acme ?? acme.acme }, {
    store,
    hosts,
    observation,
    connections,
    sharing,
  });
  const certificates = https?.keeper ?? tls;
  const scheme = certificates === undefined ? "http" : "https";
  const policy = { hosts, upstreamRules };
  const parts = { store, wrongKeys, observation, connections, policy, sharing };
  const gate = openGate(options, certificates, parts);
  const deps = appDeps(options, observation, {
    store,
    dashboard,
    volume: options.kv === undefined ? volumeOf(options.data) : unknownVolume,
    backups: backups && (() => backups.status()),
    ...peers.isLeader ? reportsOf(options, tls, https) : {},
    gate: gate && { port: gate.address.port, scheme },
    s3: (origin) =>
      s3Address({ domain: s3Domain, port: s3?.address.port, scheme }, publicUrl ?? origin),
    hosts,
    upstreamRules,
    running,
    wrongKeys,
    wrongPasswords: commonLimiter(peers, "wrong_password"),
    isDraining: () => draining,
  });
  using signal = new ShutdownSignal(() => observation.end(), (one) => peers.onSignals(one));
  // The parent of several processes looks for its own.
  using npx = new NpxParent(peers.count === 1 ? env : {});
  const responders = await respondersOf(options, deps);
  const { server, s3, plain } = openPorts(options, certificates, responders, parts);
  const s3Port = s3?.address.port;
  const ports = { server: server.address.port, gate: gate?.address.port };
  for (const port of [...Object.values(ports), s3Port, plain?.address.port, https?.port]) {
    if (port !== undefined) ownPorts.add(port);
  }
  const urls = https?.start(ports);
  const address = urls?.server ?? urlOf(server.address, scheme);
  const others = { s3: s3Port, plain: plain?.address.port, http: https?.port };
  if (await peers.ready({ ...ports, ...others })) {
    if (https?.port !== undefined && !options.json && sharing !== "further") {
      announce(`Port ${https.port} redirects to https\n`);
    }
    await onReady({
      address,
      appsAddress: gate && (urls?.gate ?? urlOf(gate.address, scheme)),
      // Its port may be one that the system chose.
      s3Address: s3Address(
        { domain: s3 === undefined ? s3Domain : undefined, port: s3Port, scheme },
        address,
      ),
    });
    startBackground({ store, connections, observation, backups }, certificates !== undefined);
  }
  await Promise.race([signal.first, npx.gone]);
  draining = true;
  announceEnd(observation, options.shutdownTimeout);
  await drainServers([server, s3, plain, gate], [backups, https], options.shutdownTimeout);
  clock.stop();
}

/** Returns what one process knows of the certificates and the files of all. */
function reportsOf(
  options: ServeOptions,
  tls: TlsFiles | undefined,
  https: Https | undefined,
): { warnings: () => Promise<string[]>; certificates: (() => CertificateStatus[]) | undefined } {
  const ofFiles = tls && (() => certificateStatus(tls));
  return {
    warnings: async () => [
      ...await fileWarnings(options, tls),
      ...certificateWarnings(https?.status() ?? []),
    ],
    certificates: https === undefined ? ofFiles : () => https.status(),
  };
}

/** Starts the work beside requests. There is one sweeper, scrub and so on for all processes of the server. */
function startBackground(
  { store, connections, observation, backups }:
    & Pick<Parts, "store" | "observation" | "backups">
    & { connections: ConnectionTable },
  isSecure: boolean,
): void {
  const { peers, onError } = observation;
  const wanted = isSecure ? WANTED_TLS_DESCRIPTORS : WANTED_DESCRIPTORS;
  limitConnections(connections, wanted, peers).catch(onError);
  if (!peers.isLeader) return;
  store.sweeper.start();
  store.scrub.start();
  peers.onTold("wake", (part) => store.wake(part));
  backups?.start();
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

/** Listens for the API, for S3 if it has a port, and for plain HTTP besides https. @throws {StartError} if that fails. */
function openPorts(
  options: ServeOptions,
  certificates: CertificateSource | TlsFiles | undefined,
  { app, s3 }: Responders,
  parts: Omit<ListenParts, "app">,
): { server: HttpServer; s3: HttpServer | undefined; plain: HttpServer | undefined } {
  const secured = (handler: Handler) => options.hsts ? withHsts(handler) : handler;
  const option = options.acme === undefined ? "--port" : "--https-port";
  return {
    server: listen(options, certificates, { ...parts, app: secured(app) }, { option }),
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
  { isLeader }: Peers,
): Promise<void> {
  await countDescriptors(wanted, {
    onLow: (free) => {
      connections.limitDescriptors(free);
      // Each process has the same limit of its own.
      if (isLeader) printError(`${lowDescriptorsText(free, wanted)}\n`);
    },
    onHeld: (release) => connections.spareDescriptors(release),
  });
}
