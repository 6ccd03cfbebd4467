/**
 * The server without its sockets: a store, its background work, and the handlers of requests. `kvdrive serve`, Deno
 * Deploy, `openServer` and the commands next to a store are made of it.
 *
 * @module
 */
import process from "node:process";
import type { CertificateStatus } from "../acme/certificate_entry.ts";
import type { Deps, GateAddress } from "../api/endpoint.ts";
import { Readiness } from "../api/server/monitoring.ts";
import type { ServeOptions } from "../cli/options/serve_options.ts";
import { FOR_WEBHOOKS, UpstreamRules } from "../http/network/upstream_rules.ts";
import type { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import type { StaticFiles } from "../http/responses/static_files.ts";
import { RunningUploads, UploadSlots } from "../http/store_body.ts";
import { HostRules, type ServerNames } from "../rules/hosts.ts";
import { hashSecret } from "../rules/secrets.ts";
import { S3KeyFile, type S3SecretKey } from "../store/accounts/s3_secrets.ts";
import type { BackupStatus } from "../store/backup/backup_health.ts";
import type { SnapshotStatus } from "../store/snapshots/repository_backups.ts";
import { DiskKeeper } from "../store/disk/disk_keeper.ts";
import { freeBytesOf } from "../store/disk/volume.ts";
import { DiskSpace } from "../store/disk/disk_space.ts";
import { openFolderWarning } from "../store/disk/store_files.ts";
import type { Database } from "../store/engine/database.ts";
import { openDatabase } from "../store/engine/database_file.ts";
import { Compactor } from "../store/maintenance/compactor.ts";
import { DEFAULT_SCRUB_EVERY } from "../store/maintenance/scrub.ts";
import { openRemoteDatabase, type RemoteStore } from "../store/remote/remote_database.ts";
import { type BackgroundPart, Store, type StoreOptions } from "../store/store.ts";
import { converter } from "../store/upgrade/upgrade.ts";
import { VERSION } from "../version.ts";
import { WebhookDeliverer } from "../webhooks/deliverer.ts";
import type { Observation } from "./observation.ts";
import { commonLimiter } from "./peers.ts";
import { type Responders, respondersOf, s3Address } from "./responders.ts";
import { defaultMemoryBudget, MemoryBudget } from "../store/engine/memory_budget.ts";

/** The least time, in milliseconds, before the average rate of an upload is checked. */
const UPLOAD_GRACE = 30_000;

/** A folder of this machine, or a store behind Deno KV. */
export type StorePlace = { folder: string } | RemoteStore;

export interface ServerOptions {
  settings: ServeOptions;
  observation: Observation;
  /** The server's own host names. */
  names: ServerNames;
  dashboard: StaticFiles;
  /** The path that all routes are below, such as `/files`; empty for none. */
  basePath?: string;
}

/** What depends on how requests reach the server. */
export interface Platform {
  /** The gate to applications, if it has a port. */
  gate?: GateAddress | undefined;
  /** Returns the port of S3, if it has one, and how it is reached. */
  s3Port?: () => { port: number | undefined; scheme: "http" | "https" };
  /** The state of the backups of this process; absent if it makes none. */
  backups?: (() => BackupStatus) | undefined;
  /** The state of its snapshots; absent if it takes none. */
  snapshots?: (() => SnapshotStatus) | undefined;
  /** What the operator should know about the files of this process. */
  warnings?: (() => Promise<string[]>) | undefined;
  /** The certificates of https; absent without https, or where another server has them. */
  certificates?: (() => CertificateStatus[]) | undefined;
  /** Knows the secret of the administrator; the store does if absent. */
  administrator?: Deps["administrator"];
}

/** A store that was opened for a server, and what works on its files. */
interface OpenedStore {
  store: Store;
  /** Keeps the disk usable; absent for a store without files. */
  keeper?: DiskKeeper | undefined;
  /** What the operator should know at the start, as sentences without a period. */
  warnings: string[];
}

export class Server {
  readonly store: Store;
  readonly running = new RunningUploads();
  readonly wrongKeys: WrongKeyLimiter;
  /** The ports that the server listens on, which no application may have on this machine. */
  readonly ownPorts = new Set<number>();
  readonly upstreamRules: UpstreamRules;
  readonly webhookRules: UpstreamRules;
  readonly webhooks: WebhookDeliverer;
  readonly #wrongPasswords: WrongKeyLimiter;
  #isDraining = false;

  private constructor(
    private readonly opened: OpenedStore,
    readonly hosts: HostRules,
    private readonly options: ServerOptions,
  ) {
    const { settings, observation: { peers, webhooks: meter, onError } } = options;
    this.store = opened.store;
    this.upstreamRules = new UpstreamRules(settings.allowedUpstreams, this.ownPorts);
    const rules = new UpstreamRules(settings.allowedWebhooks, this.ownPorts, FOR_WEBHOOKS);
    this.webhookRules = rules;
    this.webhooks = new WebhookDeliverer(this.store, { rules, meter, onError });
    this.wrongKeys = commonLimiter(peers, "wrong_key");
    this.#wrongPasswords = commonLimiter(peers, "wrong_password");
  }

  /** Opens the store. @throws {CannotOpenStore} */
  static async open(
    place: StorePlace,
    options: ServerOptions & { s3SecretKey: S3SecretKey },
  ): Promise<Server> {
    const hosts = await HostRules.load(options.names);
    return new Server(await openStore(place, options), hosts, options);
  }

  /** A server on a store that its caller closes. */
  static async on(store: Store, options: ServerOptions): Promise<Server> {
    return new Server({ store, warnings: [] }, await HostRules.load(options.names), options);
  }

  /** What the operator should know at the start, as sentences without a period. */
  get warnings(): readonly string[] {
    return this.opened.warnings;
  }

  /** Returns the handlers of requests. */
  async responders(platform: Platform = {}): Promise<Responders> {
    return await respondersOf(this.options.settings, this.#deps(platform));
  }

  /** Starts the background work. There is one sweeper, scrub and so on for all processes of the server. */
  start(): void {
    const { store, opened: { keeper }, options: { observation: { peers } } } = this;
    if (!peers.isLeader) return;
    keeper?.start();
    store.sweeper.start();
    store.scrub.start();
    this.webhooks.start();
    peers.onTold("wake", (part) => store.wake(part));
  }

  /** Whether the server is shutting down and accepts no new work. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Accepts no new work from now on, and answers those who wait for changes. */
  stopAccepting(): void {
    this.#isDraining = true;
    this.store.changeSignals.close();
  }

  /** Stops the background work and closes the store. */
  async close(): Promise<void> {
    await this.opened.keeper?.stop();
    await this.webhooks.stop();
    await this.store.close();
  }

  #deps(platform: Platform): Deps {
    const { gate, s3Port, warnings, backups, snapshots, certificates, administrator } = platform;
    const { store, wrongKeys, upstreamRules, webhookRules, webhooks, hosts, running } = this;
    const { settings, observation, dashboard, basePath = "" } = this.options;
    const { corsOrigins, failedReasons, idleTimeout, maxUploads, trustedProxies } = settings;
    const { trashDays, webdav: hasWebdav } = settings;
    const { minUploadRate: rate, publicUrl, shareHost, s3Domain, metricsToken } = settings;
    return {
      ...{ store, wrongKeys, upstreamRules, hosts, running, dashboard, basePath, gate },
      ...{ corsOrigins, failedReasons, idleTimeout, trustedProxies, trashDays, hasWebdav },
      ...{ webhookRules, webhooks },
      wrongPasswords: this.#wrongPasswords,
      administrator: administrator ?? store.adminToken,
      isDraining: () => this.isDraining,
      share: { publicUrl, host: shareHost },
      s3: (origin) => {
        const own = s3Port?.() ?? { port: undefined, scheme: "https" };
        return s3Address({ domain: s3Domain, ...own }, publicUrl ?? origin);
      },
      volume: observation.volume,
      program: {
        version: VERSION,
        build: observation.build,
        storeKind: observation.hasFile ? "file" : "shared",
        storeSize: () => store.size(),
        diskReserve: settings.diskReserve,
        load: observation.loadOf({ backups, snapshots, warnings }),
      },
      slots: new UploadSlots({ max: maxUploads, maxWait: idleTimeout }),
      uploadPace: rate === 0 ? undefined : { rate, grace: Math.max(UPLOAD_GRACE, idleTimeout) },
      observer: observation.observer,
      metrics: observation.metricsPage({ store, backups, snapshots, certificates }),
      metricsToken: metricsToken && hashSecret(metricsToken),
      readiness: new Readiness((signal) => store.probe(signal)),
      onError: observation.onError,
    };
  }
}

async function openStore(
  place: StorePlace,
  { settings, observation, s3SecretKey }: ServerOptions & { s3SecretKey: S3SecretKey },
): Promise<OpenedStore> {
  const { onError, onNotice, store: meter, peers } = observation;
  const { uploadTtl, maxOpenUploads, diskReserve, scrubEvery } = settings;
  const convert = converter({ onNotice, reserve: diskReserve });
  const memory = createMemoryBudget(settings, peers.count);
  const wakeOther = peers.isLeader ? undefined : (part: BackgroundPart) => peers.tell("wake", part);
  const limits = { uploadTtl, maxOpenUploads, memory };
  const common = { ...limits, s3SecretKey, meter, wakeOther, onError, onNotice };
  const every = scrubEvery === "off" ? undefined : scrubEvery;
  const warnings = s3SecretKey instanceof S3KeyFile ? await s3SecretKey.warnings() : [];
  if (!("folder" in place)) {
    const database = await openRemoteDatabase({ ...place, convert });
    return { store: new Store(database, { ...common, scrubEvery: every }), warnings };
  }
  const { folder } = place;
  const database = await openDatabase(folder, settings.reads, convert);
  const { disk, keeper } = diskOf(folder, database, { diskReserve, onError });
  const store = new Store(database, {
    ...common,
    disk,
    compactor: new Compactor(database.logs.map(({ path }) => path)),
    scrubEvery: scrubEvery === undefined ? DEFAULT_SCRUB_EVERY : every,
  });
  try {
    const found = [await openFolderWarning(folder), database.notice, ...warnings];
    return { store, keeper, warnings: found.filter((one) => one !== undefined) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Returns what reserves the disk's space for uploads, and what keeps room for the store itself. */
function diskOf(
  folder: string,
  { logs, ballast }: Database,
  { diskReserve, onError }: { diskReserve: number } & Pick<StoreOptions, "onError">,
): { disk: DiskSpace; keeper: DiskKeeper | undefined } {
  const freeBytes = freeBytesOf(folder);
  const growth = () => logs.reduce((sum, log) => sum + log.growth(), 0);
  const truncateLogs = async (): Promise<void> => await keeper?.truncateLogs();
  const disk = new DiskSpace(freeBytes, diskReserve, {
    growth,
    truncateLogs,
    ...(ballast && { ballast }),
  });
  const keeper = ballast && new DiskKeeper({ ballast, logs, disk, freeBytes, onError });
  return { disk, keeper };
}

/** Returns the part of a process in the configured memory budget, or in one that fits the machine. */
export function createMemoryBudget(
  { memoryBudget, idleTimeout }: { memoryBudget: number | undefined; idleTimeout: number },
  processes: number = 1,
): MemoryBudget {
  const whole = memoryBudget ?? defaultMemoryBudget(machineMemory(), processes);
  const bytes = Math.floor(whole / processes);
  return new MemoryBudget(bytes, { maxWait: idleTimeout });
}

/**
 * Returns the bytes of memory that the process may use: those of the machine, or the limit of its container or service. 0
 * if unknown.
 */
export function machineMemory(): number {
  try {
    const { total } = Deno.systemMemoryInfo();
    // Without a limit, 0 or a huge number. The runtime reads it, as the program has no permission to read /sys.
    const limit = Number(process.constrainedMemory?.() ?? 0);
    return limit > 0 ? Math.min(total, limit) : total;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return 0;
    throw error;
  }
}
