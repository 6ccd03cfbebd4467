import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import { HttpMetrics } from "../../http/metrics/http_metrics.ts";
import { MetricsPage } from "../../http/metrics/metrics_page.ts";
import { StoreMetrics } from "../../http/metrics/store_metrics.ts";
import { type RequestKind, RequestObserver } from "../../http/request_context.ts";
import { droppedLine, type LogFormat, RequestLog } from "../../http/request_log.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import { unknownVolume, volumeOf } from "../../store/disk/volume.ts";
import { databaseSize } from "../../store/engine/database_file.ts";
import type { Store } from "../../store/store.ts";
import { type Build, VERSION } from "../../version.ts";
import { type LogFailure, type LogNotice, serverLog } from "../terminal/output.ts";
import { LogWriter } from "./log_writer.ts";

export interface ObservationOptions {
  log: LogFormat | "off" | undefined;
  /** The store's folder; `undefined` for a shared store. */
  data: string | undefined;
  build: Build["kind"];
}

/** The parts of a server with metrics of their own. */
interface MeasuredParts {
  store: Store;
  backups?: (() => BackupStatus) | undefined;
  certificates?: (() => CertificateStatus[]) | undefined;
}

/** The log and the metrics of a server. */
export class Observation {
  /** Counts the operations of the store. */
  readonly store = new StoreMetrics();
  readonly observer: RequestObserver;
  readonly onError: LogFailure;
  readonly onNotice: LogNotice;
  readonly build: Build["kind"];
  readonly #http = new HttpMetrics();
  readonly #writer: LogWriter | undefined;
  readonly #folder: string | undefined;

  constructor({ log, data, build }: ObservationOptions) {
    this.build = build;
    this.#folder = data;
    const format = log ?? (Deno.stdout.isTerminal() ? "text" : "json");
    const { onError, onNotice } = serverLog(format === "json" ? "json" : "text");
    this.onError = onError;
    this.onNotice = onNotice;
    if (format === "off") {
      this.observer = new RequestObserver(this.#http, undefined);
      return;
    }
    const writer = new LogWriter(Deno.stdout, (count) => droppedLine(format, count));
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

  /** Returns the size of the store's file and its log in bytes; `undefined` without one. */
  async storeSize(): Promise<number | undefined> {
    return this.#folder === undefined ? undefined : await databaseSize(this.#folder);
  }

  /** Returns the metrics page, including the figures of a store. */
  metricsPage({ store, backups, certificates }: MeasuredParts): MetricsPage {
    const folder = this.#folder;
    return new MetricsPage({
      http: this.#http,
      store: this.store,
      memory: () => store.memory.uses(),
      usage: () => store.usage(),
      integrity: () => store.integrity(),
      storeSize: () => this.storeSize(),
      volume: folder === undefined ? unknownVolume : volumeOf(folder),
      backups,
      certificates,
      droppedLines: () => this.#writer?.dropped ?? 0,
      version: VERSION,
    });
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
