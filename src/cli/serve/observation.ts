import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import type { ServerLoad } from "../../api/endpoint.ts";
import { HttpMetrics } from "../../http/metrics/http_metrics.ts";
import { MetricsPage } from "../../http/metrics/metrics_page.ts";
import { StoreMetrics } from "../../http/metrics/store_metrics.ts";
import { type RequestKind, RequestObserver } from "../../http/request_context.ts";
import { droppedLine, type LogFormat, RequestLog } from "../../http/request_log.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import { unknownVolume, volumeOf } from "../../store/disk/volume.ts";
import type { Store } from "../../store/store.ts";
import { type Build, VERSION } from "../../version.ts";
import type { ServeOptions } from "../options/serve_options.ts";
import { type LogFailure, type LogNotice, serverLog } from "../terminal/output.ts";
import { LogWriter } from "./log_writer.ts";
import { processWarnings, sumOfLoads } from "./processes/load.ts";
import { NO_PEERS, type Peers } from "./processes/worker.ts";

/** Bytes that a write to a pipe keeps together (POSIX, PIPE_BUF of Linux), also if other processes write to it. */
const PIPE_BUF = 4096;

export interface ObservationOptions {
  log: LogFormat | "off";
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
  certificates?: (() => CertificateStatus[]) | undefined;
}

/** Returns the format of the log: text on a terminal, else JSON, unless configured. */
export function logFormatOf(
  { log, json }: Pick<ServeOptions, "log" | "json">,
): LogFormat | "off" {
  return log ?? (json || !Deno.stdout.isTerminal() ? "json" : "text");
}

/** The log and the metrics of a server. */
export class Observation {
  /** Counts the operations of the store. */
  readonly store = new StoreMetrics();
  readonly observer: RequestObserver;
  readonly onError: LogFailure;
  readonly onNotice: LogNotice;
  readonly build: Build["kind"];
  readonly peers: Peers;
  readonly #http = new HttpMetrics();
  readonly #writer: LogWriter | undefined;
  readonly #folder: string | undefined;

  constructor({ log: format, data, build, peers = NO_PEERS }: ObservationOptions) {
    this.build = build;
    this.peers = peers;
    this.#folder = data;
    const { onError, onNotice } = serverLog(format);
    this.onError = onError;
    this.onNotice = onNotice;
    if (format === "off") {
      this.observer = new RequestObserver(this.#http, undefined);
      return;
    }
    const maxWrite = peers.count === 1 ? undefined : PIPE_BUF;
    const writer = new LogWriter(Deno.stdout, (count) => droppedLine(format, count), maxWrite);
    this.#writer = writer;
    const lines = new RequestLog(format, (line) => writer.add(line));
    this.observer = new RequestObserver(this.#http, lines);
  }

  /** Returns the number of running requests by kind. */
  running(): Readonly<Record<RequestKind, number>> {
    return this.#http.running;
  }

  /** Whether the store is a file of this machine. */
  get hasFile(): boolean {
    return this.#folder !== undefined;
  }

  /** Returns the metrics page, including the figures of a store. */
  metricsPage({ store, backups, certificates }: MeasuredParts): MetricsPage {
    const folder = this.#folder;
    const page = new MetricsPage({
      http: this.#http,
      store: this.store,
      memory: () => store.memory.uses(),
      usage: () => store.usage(),
      integrity: () => store.integrity(),
      storeSize: () => store.size(),
      volume: folder === undefined ? unknownVolume : volumeOf(folder),
      backups,
      certificates,
      droppedLines: () => this.#writer?.dropped ?? 0,
      version: VERSION,
      others: () => this.peers.ask("metrics", null),
    });
    this.peers.onAsked("metrics", () => page.families());
    return page;
  }

  /** Returns a function for the load of the server, to which this process contributes what is given. */
  loadOf(
    { backups, warnings }: Pick<MeasuredParts, "backups"> & { warnings: () => Promise<string[]> },
  ): () => Promise<ServerLoad> {
    const own = async (): Promise<ServerLoad> => {
      const { rss, heapUsed } = Deno.memoryUsage();
      return {
        running: { ...this.#http.running },
        memory: { resident: rss, heap: heapUsed },
        started: performance.timeOrigin,
        processes: 1,
        backup: backups?.(),
        warnings: await warnings(),
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

  /** Starts to write the request log, once nothing else is printed to standard output. */
  begin(): void {
    this.#writer?.open();
  }

  /** Writes the rest of the log. */
  async end(): Promise<void> {
    await this.#writer?.close();
  }
}
