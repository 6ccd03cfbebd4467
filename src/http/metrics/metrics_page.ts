import process from "node:process";
import { SECOND } from "../../rules/units.ts";
import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import type { VolumeQuery } from "../../store/disk/volume.ts";
import type { MemoryUse } from "../../store/engine/memory_budget.ts";
import type { UsedProject } from "../../store/accounts/projects.ts";
import type { Integrity } from "../../store/store.ts";
import type { WebhookSummary } from "../../store/webhooks/webhook_store.ts";
import { Exposition, type MetricFamily, only, type Sample } from "./exposition.ts";
import type { HttpMetrics } from "./http_metrics.ts";
import type { StoreMetrics } from "./store_metrics.ts";
import { type WebhookMetrics, writeWebhooks } from "./webhook_metrics.ts";

/** How long the metrics of projects are cached, as each read lists the projects and the damaged files. */
const USAGE_TTL = 10 * SECOND;

/** The most projects that are listed individually. Each adds two time series. */
const MAX_MEASURED_PROJECTS = 10_000;

/** Where the metrics come from. */
export interface MetricsSources {
  http: HttpMetrics;
  store: StoreMetrics;
  webhooks: WebhookMetrics;
  /** The use of the memory budget, by part. */
  memory: () => MemoryUse[];
  /** The number of files and bytes of each project. */
  usage: () => Promise<UsedProject[]>;
  /** The webhooks of all projects together. */
  webhookSummary: () => Promise<WebhookSummary>;
  /** The damaged files, and the progress of the scrub. */
  integrity: () => Promise<Integrity>;
  /** The callers that wait for changes. */
  waiting: () => number;
  /** The size of the store's file and its log in bytes; `undefined` if it is not known. */
  storeSize: () => Promise<number | undefined>;
  volume: VolumeQuery;
  /** The state of the server's backups; absent if it makes none. */
  backups?: (() => BackupStatus) | undefined;
  /** The state of its snapshots; absent if it takes none. */
  snapshots?: (() => BackupStatus) | undefined;
  /** The certificates of https; absent without them. */
  certificates?: (() => readonly CertificateStatus[]) | undefined;
  /** Log lines that were dropped because their reader was too slow. */
  droppedLines: () => number;
  version: string;
  /** The metrics of the other processes of the server. */
  others: () => Promise<(readonly MetricFamily[])[]>;
}

interface Usage {
  projects: readonly UsedProject[];
  integrity: Integrity;
  webhooks: WebhookSummary;
  /** When it was read, as `performance.now()`. */
  readAt: number;
}

/** All metrics of the program, as text for Prometheus. */
export class MetricsPage {
  #usage: Promise<Usage> | undefined;

  constructor(private readonly sources: MetricsSources) {}

  /** The current metrics; those of the projects are at most `USAGE_TTL` old. */
  async render(): Promise<string> {
    const { storeSize, volume, others } = this.sources;
    const [usage, size, disk, families] = await Promise.all([
      this.#read(),
      storeSize(),
      volume(),
      others(),
    ]);
    const to = this.#ofProcess();
    for (const of of families) to.merge(of);
    writeProjects(to, usage.projects);
    writeIntegrity(to, usage.integrity);
    writeWebhooks(to, usage.webhooks);
    const known = (value: number | undefined) => value === undefined ? [] : only(value);
    to.gauge(
      "kvdrive_store_size_bytes",
      "Size of the store's file and its write-ahead log.",
      known(size),
    );
    to.gauge("kvdrive_disk_free_bytes", "Free space of the store's disk.", known(disk?.free));
    to.gauge("kvdrive_disk_total_bytes", "Size of the store's disk.", known(disk?.total));
    return to.toString();
  }

  /** The metrics that are not of the store, for another process of the server. */
  families(): MetricFamily[] {
    return [...this.#ofProcess().families];
  }

  #ofProcess(): Exposition {
    const { http, store, webhooks, memory, waiting, backups, snapshots, certificates } =
      this.sources;
    const to = new Exposition();
    http.write(to);
    store.write(to);
    webhooks.write(to);
    writeMemory(to, memory());
    to.gauge("kvdrive_waiting_callers", "Callers that wait for changes.", only(waiting()), {
      isSum: true,
    });
    writeBackups(to, backups?.(), snapshots?.());
    writeCertificates(to, certificates?.());
    this.#writeProcess(to);
    return to;
  }

  /** Concurrent calls share one read of the counters, whose result is cached. */
  async #read(): Promise<Usage> {
    const known = await this.#usage;
    if (known !== undefined && performance.now() - known.readAt < USAGE_TTL) return known;
    const reading = this.#usage = this.#readUsage();
    try {
      return await reading;
    } catch (error) {
      this.#usage = undefined;
      throw error;
    }
  }

  async #readUsage(): Promise<Usage> {
    const { usage, integrity, webhookSummary } = this.sources;
    const [projects, found, webhooks] = await Promise.all([
      usage(),
      integrity(),
      webhookSummary(),
    ]);
    return { projects, integrity: found, webhooks, readAt: performance.now() };
  }

  #writeProcess(to: Exposition): void {
    const { version, droppedLines } = this.sources;
    to.counter(
      "kvdrive_log_dropped_lines_total",
      "Log lines that were dropped, because the reader of the log was too slow.",
      only(droppedLines()),
    );
    const { user, system } = process.cpuUsage();
    to.counter(
      "process_cpu_seconds_total",
      "CPU time of all processes.",
      only((user + system) / 1e6),
    );
    const { rss, heapUsed } = Deno.memoryUsage();
    const isSum = true;
    to.gauge("kvdrive_processes", "Processes of the server.", only(1), { isSum });
    to.gauge("process_resident_memory_bytes", "Resident memory of all processes.", only(rss), {
      isSum,
    });
    to.gauge("kvdrive_heap_used_bytes", "JavaScript heap in use.", only(heapUsed), { isSum });
    to.gauge(
      "process_start_time_seconds",
      "Start time of the oldest process.",
      only(performance.timeOrigin / 1000),
    );
    to.gauge("kvdrive_build_info", "Versions of kvdrive and Deno.", [
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
    { isSum: true },
  );
  to.gauge("kvdrive_memory_used_bytes", "Memory in use, by part.", samples("used"), {
    isSum: true,
  });
  to.counter(
    "kvdrive_memory_refused_total",
    "Requests refused with 503 because their part of the memory did not become free in time.",
    samples("refused"),
  );
}

function writeIntegrity(to: Exposition, { damages, pass, progress }: Integrity): void {
  to.gauge(
    "kvdrive_damaged_files",
    "Files known to be damaged: restore them from a backup.",
    only(damages.length),
  );
  to.gauge(
    "kvdrive_scrub_progress_ratio",
    "Share of all bytes that the running or the last pass of the scrub has checked.",
    pass === undefined ? [] : only(progress),
  );
  to.gauge(
    "kvdrive_scrub_last_start_timestamp_seconds",
    "Start of the running or the last pass of the scrub.",
    pass === undefined ? [] : only(pass.started / 1000),
  );
  to.gauge(
    "kvdrive_scrub_last_end_timestamp_seconds",
    "End of the last pass of the scrub, unless another one is running.",
    pass?.finished === undefined ? [] : only(pass.finished / 1000),
  );
}

/** Writes nothing if the server makes no backups. The samples of snapshots have a label. */
function writeBackups(
  to: Exposition,
  files: BackupStatus | undefined,
  snapshots: BackupStatus | undefined,
): void {
  const samples = (of: (status: BackupStatus) => number | undefined): Sample[] => {
    const found: [Record<string, string>, number | undefined][] = [
      [{}, files && of(files)],
      [{ kind: "snapshots" }, snapshots && of(snapshots)],
    ];
    return found.flatMap(([labels, value]) => value === undefined ? [] : [[labels, value]]);
  };
  if (files === undefined && snapshots === undefined) return;
  to.gauge(
    "kvdrive_backup_last_success_timestamp_seconds",
    "Time of the newest complete backup.",
    samples(({ newest }) => newest === undefined ? undefined : newest / SECOND),
  );
  to.counter(
    "kvdrive_backup_failures_total",
    "Failed backups since the server was started.",
    samples(({ failures }) => failures),
  );
}

/** Writes nothing without https. The name of a certificate from a file is empty. */
function writeCertificates(
  to: Exposition,
  certificates: readonly CertificateStatus[] | undefined,
): void {
  if (certificates === undefined) return;
  const times = (of: "notAfter" | "renewal"): Sample[] =>
    certificates.flatMap((one) => {
      const time = one[of];
      return time === undefined ? [] : [[{ name: one.name }, time / SECOND]];
    });
  to.gauge(
    "kvdrive_certificate_expiry_timestamp_seconds",
    "End of the validity of a certificate.",
    times("notAfter"),
  );
  to.gauge(
    "kvdrive_certificate_renewal_timestamp_seconds",
    "When a certificate is renewed.",
    times("renewal"),
  );
  to.gauge(
    "kvdrive_certificate_failed_attempts",
    "Attempts to obtain a certificate that failed since the last one that succeeded.",
    certificates.map((one) => [{ name: one.name }, one.failures]),
  );
}

/** If there are too many projects, those with the most bytes are listed. */
function writeProjects(to: Exposition, all: readonly UsedProject[]): void {
  const listed = all.length <= MAX_MEASURED_PROJECTS
    ? all
    : all.toSorted((a, b) => b.bytes - a.bytes).slice(0, MAX_MEASURED_PROJECTS);
  const samples = (of: "files" | "bytes" | "trashFiles" | "trashBytes"): Sample[] =>
    listed.map((usage) => [{ project: usage.project }, usage[of]]);
  to.gauge("kvdrive_projects", "All projects, including those that are not listed individually.", [
    [{}, all.length],
  ]);
  to.gauge("kvdrive_project_files", "Files of a project.", samples("files"));
  to.gauge("kvdrive_project_bytes", "Bytes of a project's files.", samples("bytes"));
  to.gauge(
    "kvdrive_project_trash_files",
    "Files in the trash of a project.",
    samples("trashFiles"),
  );
  to.gauge(
    "kvdrive_project_trash_bytes",
    "Bytes in the trash of a project.",
    samples("trashBytes"),
  );
}
