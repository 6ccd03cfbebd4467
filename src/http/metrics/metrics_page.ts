import process from "node:process";
import { SECOND } from "../../rules/units.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import type { VolumeQuery } from "../../store/disk/volume.ts";
import type { MemoryUse } from "../../store/engine/memory_budget.ts";
import type { ProjectUsage } from "../../store/quotas/usage.ts";
import type { Integrity } from "../../store/store.ts";
import { Exposition, only, type Sample } from "./exposition.ts";
import type { HttpMetrics } from "./http_metrics.ts";
import type { StoreMetrics } from "./store_metrics.ts";

/** How long the figures of projects are believed, each of which costs reading all counters. */
const USAGE_KEPT = 10 * SECOND;

/** Projects whose figures are told one by one, those with the most bytes. Each is two series for whoever gathers them. */
const MAX_MEASURED_PROJECTS = 10_000;

/** What the figures are gathered from. */
export interface MetricsSources {
  http: HttpMetrics;
  store: StoreMetrics;
  /** The parts of the memory budget. */
  memory: () => MemoryUse[];
  /** What each project holds. */
  usage: () => Promise<ProjectUsage[]>;
  /** Which files are damaged, and how far the scrub is. */
  integrity: () => Promise<Integrity>;
  /** Bytes of the store's file and its log; `undefined` where that cannot be found out. */
  storeSize: () => Promise<number | undefined>;
  volume: VolumeQuery;
  /** How the server's backups are; absent if it makes none. */
  backups?: (() => BackupStatus) | undefined;
  /** Lines of the log that nobody took. */
  droppedLines: () => number;
  version: string;
}

interface Usage {
  projects: readonly ProjectUsage[];
  integrity: Integrity;
  /** As `performance.now` gives it. */
  readAt: number;
}

/** All figures of the program as Prometheus reads them. */
export class MetricsPage {
  readonly #sources: MetricsSources;
  #usage: Promise<Usage> | undefined;

  constructor(sources: MetricsSources) {
    this.#sources = sources;
  }

  /** The figures as they are now; those of the projects as they were `USAGE_KEPT` ago at the most. */
  async render(): Promise<string> {
    const { http, store, storeSize, volume } = this.#sources;
    const [usage, size, disk] = await Promise.all([this.#read(), storeSize(), volume()]);
    const to = new Exposition();
    http.write(to);
    store.write(to);
    writeProjects(to, usage.projects);
    writeIntegrity(to, usage.integrity);
    const known = (value: number | undefined) => value === undefined ? [] : only(value);
    to.gauge(
      "kvdrive_store_size_bytes",
      "Size of the store's file and its write-ahead log.",
      known(size),
    );
    to.gauge("kvdrive_disk_free_bytes", "What the store's disk has left.", known(disk?.free));
    to.gauge("kvdrive_disk_total_bytes", "Size of the store's disk.", known(disk?.total));
    writeMemory(to, this.#sources.memory());
    writeBackups(to, this.#sources.backups?.());
    this.#writeProcess(to);
    return to.toString();
  }

  /** However many ask, the counters are read once in a while, and never twice at the same time. */
  async #read(): Promise<Usage> {
    const known = await this.#usage;
    if (known !== undefined && performance.now() - known.readAt < USAGE_KEPT) return known;
    const reading = this.#usage = this.#readUsage();
    try {
      return await reading;
    } catch (error) {
      this.#usage = undefined;
      throw error;
    }
  }

  async #readUsage(): Promise<Usage> {
    const { usage, integrity } = this.#sources;
    const [projects, found] = await Promise.all([usage(), integrity()]);
    return { projects, integrity: found, readAt: performance.now() };
  }

  #writeProcess(to: Exposition): void {
    const { version, droppedLines } = this.#sources;
    to.counter(
      "kvdrive_log_dropped_lines_total",
      "Lines of the log that were left out, as nobody took them.",
      only(droppedLines()),
    );
    const { user, system } = process.cpuUsage();
    to.counter(
      "process_cpu_seconds_total",
      "Time that processors worked for the program.",
      only((user + system) / 1e6),
    );
    const { rss, heapUsed } = Deno.memoryUsage();
    to.gauge("process_resident_memory_bytes", "Memory that the program has.", only(rss));
    to.gauge("kvdrive_heap_used_bytes", "Memory that its objects take.", only(heapUsed));
    to.gauge(
      "process_start_time_seconds",
      "When the program was started.",
      only(performance.timeOrigin / 1000),
    );
    to.gauge("kvdrive_build_info", "Which versions run.", [
      [{ version, deno: Deno.version.deno }, 1],
    ]);
  }
}

function writeMemory(to: Exposition, uses: readonly MemoryUse[]): void {
  const samples = (of: "budget" | "used" | "refused"): Sample[] =>
    uses.map((use) => [{ part: use.part }, use[of]]);
  to.gauge(
    "kvdrive_memory_budget_bytes",
    "Memory that transfers, JSON and caches may take, by part.",
    samples("budget"),
  );
  to.gauge("kvdrive_memory_used_bytes", "What is in use of each part.", samples("used"));
  to.counter(
    "kvdrive_memory_refused_total",
    "Requests refused with 503 because their part of the memory was in use for too long.",
    samples("refused"),
  );
}

function writeIntegrity(to: Exposition, { damages, pass, progress }: Integrity): void {
  to.gauge(
    "kvdrive_damaged_files",
    "Files that are known to be damaged: bring them back from a backup.",
    only(damages.length),
  );
  to.gauge(
    "kvdrive_scrub_progress_ratio",
    "The part of all bytes that the running or the last pass of the scrub has checked.",
    pass === undefined ? [] : only(progress),
  );
  to.gauge(
    "kvdrive_scrub_last_start_timestamp_seconds",
    "When the running or the last pass of the scrub began.",
    pass === undefined ? [] : only(pass.started / 1000),
  );
  to.gauge(
    "kvdrive_scrub_last_end_timestamp_seconds",
    "When the last pass of the scrub ended, unless another one runs.",
    pass?.finished === undefined ? [] : only(pass.finished / 1000),
  );
}

/** Nothing if the server makes no backups. */
function writeBackups(to: Exposition, status: BackupStatus | undefined): void {
  if (status === undefined) return;
  const { newest, failures } = status;
  to.gauge(
    "kvdrive_backup_last_success_timestamp_seconds",
    "When the newest whole backup was made.",
    newest === undefined ? [] : only(newest / 1000),
  );
  to.counter(
    "kvdrive_backup_failures_total",
    "Backups that failed since the server was started.",
    only(failures),
  );
}

/** Those with the most bytes, where there are too many. */
function writeProjects(to: Exposition, all: readonly ProjectUsage[]): void {
  const told = all.length <= MAX_MEASURED_PROJECTS
    ? all
    : all.toSorted((a, b) => b.bytes - a.bytes).slice(0, MAX_MEASURED_PROJECTS);
  const samples = (of: "files" | "bytes"): Sample[] =>
    told.map((usage) => [{ project: usage.project }, usage[of]]);
  to.gauge("kvdrive_projects", "Projects, also those that are too many to be told one by one.", [
    [{}, all.length],
  ]);
  to.gauge("kvdrive_project_files", "Files of a project.", samples("files"));
  to.gauge("kvdrive_project_bytes", "Bytes of a project's files.", samples("bytes"));
}
