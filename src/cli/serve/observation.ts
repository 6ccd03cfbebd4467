import { HttpMetrics } from "../../http/metrics/http_metrics.ts";
import { MetricsPage } from "../../http/metrics/metrics_page.ts";
import { StoreMetrics } from "../../http/metrics/store_metrics.ts";
import { RequestObserver } from "../../http/request_context.ts";
import { droppedLine, type LogFormat, RequestLog } from "../../http/request_log.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import { unknownVolume, volumeOf } from "../../store/disk/volume.ts";
import { databaseSize } from "../../store/engine/database_file.ts";
import type { Store } from "../../store/store.ts";
import { VERSION } from "../../version.ts";
import { failureLog, type LogFailure, type LogNotice, noticeLog } from "../terminal/output.ts";
import { LogWriter } from "./log_writer.ts";

/** What the operator chose. */
export interface ObservationOptions {
  log: LogFormat | "off" | undefined;
  /** The store's folder; a shared one has none. */
  data: string | undefined;
}

/** How the operator sees what the server does: its log and its metrics. */
export class Observation {
  /** Is told what the store does. */
  readonly store = new StoreMetrics();
  readonly watch: RequestObserver;
  readonly onError: LogFailure;
  readonly onNotice: LogNotice;
  readonly #http = new HttpMetrics();
  readonly #writer: LogWriter | undefined;
  readonly #folder: string | undefined;

  constructor({ log, data }: ObservationOptions) {
    const form = log ?? (Deno.stdout.isTerminal() ? "text" : "json");
    this.#folder = data;
    this.onError = failureLog(form === "json" ? "json" : "text");
    this.onNotice = noticeLog(form === "json" ? "json" : "text");
    if (form !== "off") {
      this.#writer = new LogWriter(Deno.stdout, (count) => droppedLine(form, count));
    }
    const writer = this.#writer;
    const lines = form === "off" || writer === undefined
      ? undefined
      : new RequestLog(form, (line) => writer.add(line));
    this.watch = new RequestObserver(this.#http, lines);
  }

  /** The metrics, with those of the store's content. */
  pageOf(store: Store, backups?: () => BackupStatus): MetricsPage {
    const folder = this.#folder;
    return new MetricsPage({
      http: this.#http,
      store: this.store,
      memory: () => store.memory.uses(),
      usage: () => store.usage(),
      integrity: () => store.integrity(),
      storeSize: async () => folder === undefined ? undefined : await databaseSize(folder),
      volume: folder === undefined ? unknownVolume : volumeOf(folder),
      backups,
      droppedLines: () => this.#writer?.dropped ?? 0,
      version: VERSION,
    });
  }

  /** Begins to write the log. To be called when nothing else is printed any more. */
  begin(): void {
    this.#writer?.open();
  }

  /** Writes what is left of the log. */
  async end(): Promise<void> {
    await this.#writer?.close();
  }
}
