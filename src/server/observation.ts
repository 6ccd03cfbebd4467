import type { CertificateStatus } from "../acme/certificate_entry.ts";
import type { ServerLoad } from "../api/endpoint.ts";
import { HttpMetrics, StoreMetrics, WebhookMetrics } from "../http/metrics/counters.ts";
import { MetricsPage } from "../http/metrics/metrics_page.ts";
import { type RequestKind, RequestObserver } from "../http/request_context.ts";
import type { BackupStatus } from "../store/backup/backup_health.ts";
import type { SnapshotStatus } from "../store/snapshots/repository_backups.ts";
import { unknownVolume, volumeOf, type VolumeQuery } from "../store/disk/volume.ts";
import type { Store } from "../store/store.ts";
import { type Build, VERSION } from "../version.ts";
import type { ServerLog } from "./log.ts";
import { type Announcements, NO_PEERS, type Peers } from "./peers.ts";
import { isoSeconds } from "../rules/dates.ts";
import { HOUR } from "../rules/units.ts";

export interface ObservationOptions {
  log: ServerLog;
  /** The store's folder; `undefined` for a shared store. */
  data: string | undefined;
  build: Build["kind"];
  /** The other processes of the server, if any. */
  peers?: Peers;
}

/** The parts of a server with metrics of their own. */
interface MeasuredParts {
  store: Store;
  backups?: (() => BackupStatus) | undefined;
  snapshots?: (() => SnapshotStatus) | undefined;
  certificates?: (() => CertificateStatus[]) | undefined;
}

/** The log and the metrics of a server. */
export class Observation {
  /** Counts the operations of the store. */
  readonly store = new StoreMetrics();
  /** Counts the deliveries of webhooks. */
  readonly webhooks = new WebhookMetrics();
  readonly observer: RequestObserver;
  readonly build: Build["kind"];
  readonly peers: Peers;
  readonly log: ServerLog;
  readonly #http = new HttpMetrics();
  readonly #folder: string | undefined;

  constructor({ log, data, build, peers = NO_PEERS }: ObservationOptions) {
    this.log = log;
    this.build = build;
    this.peers = peers;
    this.#folder = data;
    this.observer = new RequestObserver(this.#http, log.requests);
  }

  /** Logs a failure, with the id of the request that met it. */
  readonly onError = (error: unknown, requestId?: string): void =>
    this.log.onError(error, requestId);

  readonly onNotice = (text: string): void => this.log.onNotice(text);

  /** Returns the number of running requests by kind. */
  running(): Readonly<Record<RequestKind, number>> {
    return this.#http.running;
  }

  /** Whether the store is a file of this machine. */
  get hasFile(): boolean {
    return this.#folder !== undefined;
  }

  /** Size and free space of the store's disk. */
  get volume(): VolumeQuery {
    return this.#folder === undefined ? unknownVolume : volumeOf(this.#folder);
  }

  /** Returns the metrics page, including the figures of a store. */
  metricsPage({ store, backups, snapshots, certificates }: MeasuredParts): MetricsPage {
    const page = new MetricsPage({
      http: this.#http,
      store: this.store,
      memory: () => store.memory.uses(),
      webhooks: this.webhooks,
      usage: () => store.usage(),
      webhookSummary: () => store.webhooks.summary(),
      integrity: () => store.integrity(),
      waiting: () => store.changeSignals.size,
      storeSize: () => store.size(),
      volume: this.volume,
      backups,
      snapshots,
      certificates,
      droppedLines: () => this.log.dropped(),
      version: VERSION,
      others: () => this.peers.ask("metrics", null),
    });
    this.peers.onAsked("metrics", () => page.families());
    return page;
  }

  /** Returns a function for the load of the server, to which this process contributes what is given. */
  loadOf(
    { backups, snapshots, warnings }: Pick<MeasuredParts, "backups" | "snapshots"> & {
      warnings?: (() => Promise<string[]>) | undefined;
    },
  ): () => Promise<ServerLoad> {
    const own = async (): Promise<ServerLoad> => {
      const { rss, heapUsed } = Deno.memoryUsage();
      return {
        running: { ...this.#http.running },
        memory: { resident: rss, heap: heapUsed },
        started: performance.timeOrigin,
        processes: 1,
        backup: backups?.(),
        snapshots: snapshots?.(),
        warnings: await warnings?.() ?? [],
      };
    };
    const { peers } = this;
    peers.onAsked("load", own);
    return async () => {
      const [load, others] = await Promise.all([own(), peers.ask("load", null)]);
      const sum = sumOfLoads([load, ...others]);
      const added = processWarnings(peers.processes, peers.count);
      return { ...sum, warnings: [...sum.warnings, ...added] };
    };
  }
}

/** How long the end of a process is a warning, in milliseconds. */
const ENDED_WARNING_TIME = HOUR;

/** Returns the load of a server from those of its processes. What only one of them knows is taken from that one. */
export function sumOfLoads(loads: readonly ServerLoad[]): ServerLoad {
  return loads.reduce((
    sum,
    { running, memory, started, processes, backup, snapshots, warnings },
  ) => ({
    running: {
      upload: sum.running.upload + running.upload,
      download: sum.running.download + running.download,
      gate: sum.running.gate + running.gate,
      other: sum.running.other + running.other,
    },
    memory: {
      resident: sum.memory.resident + memory.resident,
      heap: sum.memory.heap + memory.heap,
    },
    started: Math.min(sum.started, started),
    processes: sum.processes + processes,
    backup: sum.backup ?? backup,
    ...(sum.snapshots ?? snapshots) && { snapshots: sum.snapshots ?? snapshots },
    warnings: [...sum.warnings, ...warnings],
  }));
}

/**
 * Returns what the operator should know about the processes of a server, as sentences without a period.
 *
 * @param count How many there should be.
 * @param now Milliseconds since 1970.
 */
export function processWarnings(
  state: Announcements["processes"] | undefined,
  count: number,
  now: number = Date.now(),
): string[] {
  if (state === undefined) return [];
  const { running, ended, lastEnd } = state;
  const warnings: string[] = [];
  if (running < count) {
    warnings.push(`Only ${running} of ${count} processes of the server are running: see the log`);
  }
  if (lastEnd !== undefined && now - lastEnd < ENDED_WARNING_TIME) {
    const times = ended === 1 ? "once" : `${ended} times`;
    warnings.push(
      `A process of the server ended unexpectedly ${times}, last at ${
        isoSeconds(lastEnd)
      }, and was started again: see the log`,
    );
  }
  return warnings;
}
