/**
 * All metrics: the name, the type, the help, and how it is read. To add one, count it in `counters.ts` and add a row.
 *
 * @module
 */
import process from "node:process";
import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import { SECOND } from "../../rules/units.ts";
import type { UsedProject } from "../../store/accounts/projects.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import type { Volume } from "../../store/disk/volume.ts";
import type { MemoryUse } from "../../store/engine/memory_budget.ts";
import type { Integrity } from "../../store/store.ts";
import type { WebhookSummary } from "../../store/webhooks/webhook_store.ts";
import type { HttpMetrics, RouteCounts, StoreMetrics, WebhookMetrics } from "./counters.ts";
import {
  counter,
  countsBy,
  gauge,
  type Histogram,
  histogram,
  type MetricTable,
  type Sample,
  sum,
} from "./exposition.ts";

/** Where the metrics of one process come from. */
export interface ProcessSource {
  http: HttpMetrics;
  store: StoreMetrics;
  webhooks: WebhookMetrics;
  /** The use of the memory budget, by part. */
  memory: () => MemoryUse[];
  /** The callers that wait for changes. */
  waiting: () => number;
  /** The state of the server's backups; absent if it makes none. */
  backups?: (() => BackupStatus) | undefined;
  /** The state of its snapshots; absent if it takes none. */
  snapshots?: (() => BackupStatus) | undefined;
  /** The certificates of https; absent without them. */
  certificates?: (() => readonly CertificateStatus[]) | undefined;
  /** Log lines that were dropped because their reader was too slow. */
  droppedLines: () => number;
  version: string;
}

/** What the metrics of the whole store are read from. */
export interface StoreSource {
  /** All projects. */
  projects: readonly UsedProject[];
  /** The damaged files, and the progress of the scrub. */
  integrity: Integrity;
  /** The webhooks of all projects together. */
  webhooks: WebhookSummary;
  /** The size of the store's file and its log in bytes; `undefined` if it is not known. */
  size: number | undefined;
  disk: Volume | undefined;
}

/** The metrics of one process. */
export const PROCESS_METRICS: MetricTable<ProcessSource> = {
  kvdrive_http_requests_total: counter(
    "Finished requests by route, method and status (none: the client disconnected before the response).",
    ({ http }) => [...http.routes].flatMap(responsesOf),
  ),
  kvdrive_http_request_duration_seconds: histogram(
    "Time from the head of the request to the end of its response.",
    byRoute(({ duration }) => duration),
  ),
  kvdrive_http_received_bytes_total: counter(
    "Bytes of request bodies.",
    byRoute(({ received }) => received),
  ),
  kvdrive_http_sent_bytes_total: counter("Bytes of response bodies.", byRoute(({ sent }) => sent)),
  kvdrive_http_aborted_total: counter(
    "Requests that were aborted by the client or the server in the middle of a body.",
    byRoute(({ aborted }) => aborted),
  ),
  kvdrive_http_running: sum("Running requests.", ({ http }) => countsBy("kind", http.running)),
  kvdrive_gate_requests_total: counter(
    "Requests to the gate: forwarded to an application, refused, answered by the gate, failed, or aborted.",
    ({ http }) => countsBy("outcome", http.gateOutcomes),
  ),
  kvdrive_link_requests_total: counter(
    "Requests for links, by what they got: file, archive, page, or why they got nothing.",
    ({ http }) => countsBy("outcome", http.linkOutcomes),
  ),
  kvdrive_store_commits_total: counter(
    "Commits: done, refused because a check did not hold, or failed.",
    ({ store }) => countsBy("outcome", store.commits),
  ),
  kvdrive_store_commit_members: histogram(
    "Operations that shared a commit.",
    ({ store }) => store.commitMembers,
  ),
  kvdrive_store_commit_duration_seconds: histogram(
    "Time until a commit was on disk, including the wait for the database's lock.",
    ({ store }) => store.commitDuration,
  ),
  kvdrive_store_retries_total: counter(
    "Commits that were retried because another process held the database's lock.",
    ({ store }) => store.retries,
  ),
  kvdrive_damaged_reads_total: counter(
    "Downloads that found missing or wrong bytes.",
    ({ store }) => store.damagedReads,
  ),
  kvdrive_sweeper_runs_total: counter(
    "Sweeps, by outcome.",
    ({ store }) => countsBy("outcome", store.sweeps),
  ),
  kvdrive_sweeper_run_seconds_total: counter(
    "Total time of all sweeps.",
    ({ store }) => store.sweepSeconds,
  ),
  kvdrive_sweeper_removed_total: counter(
    "What the sweeper removed: versions' bytes in chunks, bytes listed in a manifest, abandoned uploads, lists of parts, expired files.",
    ({ store }) => countsBy("kind", store.removed),
  ),
  kvdrive_sweeper_takeovers_total: counter(
    "Dead or silent writers whose bytes the sweeper removed.",
    ({ store }) => store.takeovers,
  ),
  kvdrive_sweeper_last_success_timestamp_seconds: gauge(
    "End of the last successful sweep.",
    ({ store }) => known(store.lastSweep),
  ),
  kvdrive_scrub_read_bytes_total: counter(
    "Bytes of files that the scrub has read and checked.",
    ({ store }) => store.scrubbedBytes,
  ),
  kvdrive_scrub_files_total: counter(
    "Files that the scrub has checked: whole, converted (whole, with missing digests added), or damaged.",
    ({ store }) => countsBy("outcome", store.scrubbedFiles),
  ),
  kvdrive_scrub_runs_total: counter(
    "Passes of the scrub over all files, by outcome.",
    ({ store }) => countsBy("outcome", store.scrubs),
  ),
  kvdrive_webhook_deliveries_total: counter(
    "Attempts to deliver changes to webhooks, by outcome.",
    ({ webhooks }) => countsBy("outcome", webhooks.deliveries),
  ),
  kvdrive_webhook_changes_total: counter(
    "Changes that receivers of webhooks have accepted.",
    ({ webhooks }) => webhooks.changes,
  ),
  kvdrive_webhooks_disabled_total: counter(
    "Webhooks that the server disabled: their receivers answered 410, or failed for three days.",
    ({ webhooks }) => webhooks.disabledWebhooks,
  ),
  kvdrive_webhook_delivery_duration_seconds: histogram(
    "Time until the receiver of a webhook answered, or was given up.",
    ({ webhooks }) => webhooks.duration,
  ),
  kvdrive_memory_budget_bytes: sum(
    "Memory that transfers, JSON and caches may take, by part.",
    byPart(({ budget }) => budget),
  ),
  kvdrive_memory_used_bytes: sum("Memory in use, by part.", byPart(({ used }) => used)),
  kvdrive_memory_refused_total: counter(
    "Requests refused with 503 because their part of the memory did not become free in time.",
    byPart(({ refused }) => refused),
  ),
  kvdrive_waiting_callers: sum("Callers that wait for changes.", ({ waiting }) => waiting()),
  kvdrive_backup_last_success_timestamp_seconds: gauge(
    "Time of the newest complete backup.",
    byBackup(({ newest }) => newest && newest / SECOND),
  ),
  kvdrive_backup_failures_total: counter(
    "Failed backups since the server was started.",
    byBackup(({ failures }) => failures),
  ),
  kvdrive_certificate_expiry_timestamp_seconds: gauge(
    "End of the validity of a certificate.",
    byCertificate(({ notAfter }) => notAfter && notAfter / SECOND),
  ),
  kvdrive_certificate_renewal_timestamp_seconds: gauge(
    "When a certificate is renewed.",
    byCertificate(({ renewal }) => renewal && renewal / SECOND),
  ),
  kvdrive_certificate_failed_attempts: gauge(
    "Attempts to obtain a certificate that failed since the last one that succeeded.",
    byCertificate(({ failures }) => failures),
  ),
  kvdrive_log_dropped_lines_total: counter(
    "Log lines that were dropped, because the reader of the log was too slow.",
    ({ droppedLines }) => droppedLines(),
  ),
  process_cpu_seconds_total: counter("CPU time of all processes.", cpuSeconds),
  kvdrive_processes: sum("Processes of the server.", () => 1),
  process_resident_memory_bytes: sum(
    "Resident memory of all processes.",
    () => Deno.memoryUsage().rss,
  ),
  kvdrive_heap_used_bytes: sum("JavaScript heap in use.", () => Deno.memoryUsage().heapUsed),
  process_start_time_seconds: gauge(
    "Start time of the oldest process.",
    () => performance.timeOrigin / 1000,
  ),
  kvdrive_build_info: gauge(
    "Versions of kvdrive and Deno.",
    ({ version }) => [[{ version, deno: Deno.version.deno }, 1]],
  ),
};

/** The metrics of the whole store, which one process reads for all. */
export const STORE_METRICS: MetricTable<StoreSource> = {
  kvdrive_projects: gauge(
    "All projects, including those that are not listed individually.",
    ({ projects }) => projects.length,
  ),
  kvdrive_project_files: gauge("Files of a project.", byProject(({ files }) => files)),
  kvdrive_project_bytes: gauge("Bytes of a project's files.", byProject(({ bytes }) => bytes)),
  kvdrive_project_trash_files: gauge(
    "Files in the trash of a project.",
    byProject(({ trashFiles }) => trashFiles),
  ),
  kvdrive_project_trash_bytes: gauge(
    "Bytes in the trash of a project.",
    byProject(({ trashBytes }) => trashBytes),
  ),
  kvdrive_damaged_files: gauge(
    "Files known to be damaged: restore them from a backup.",
    ({ integrity }) => integrity.damages.length,
  ),
  kvdrive_scrub_progress_ratio: gauge(
    "Share of all bytes that the running or the last pass of the scrub has checked.",
    ({ integrity: { pass, progress } }) => known(pass && progress),
  ),
  kvdrive_scrub_last_start_timestamp_seconds: gauge(
    "Start of the running or the last pass of the scrub.",
    ({ integrity: { pass } }) => known(pass && pass.started / SECOND),
  ),
  kvdrive_scrub_last_end_timestamp_seconds: gauge(
    "End of the last pass of the scrub, unless another one is running.",
    ({ integrity: { pass } }) => known(pass?.finished && pass.finished / SECOND),
  ),
  kvdrive_webhooks: gauge(
    "Webhooks by state; those that their owners disabled not counted.",
    ({ webhooks: { enabled, failing, ended } }) =>
      countsBy("state", { working: enabled - failing, failing, disabled: ended.length }),
  ),
  kvdrive_store_size_bytes: gauge(
    "Size of the store's file and its write-ahead log.",
    ({ size }) => known(size),
  ),
  kvdrive_disk_free_bytes: gauge(
    "Free space of the store's disk.",
    ({ disk }) => known(disk?.free),
  ),
  kvdrive_disk_total_bytes: gauge("Size of the store's disk.", ({ disk }) => known(disk?.total)),
};

/** The most projects that are listed individually. Each adds four time series. */
const MAX_LISTED_PROJECTS = 10_000;

/** Returns a sample, or none if the value is not known. */
function known(value: number | undefined): Sample[] {
  return value === undefined ? [] : [[{}, value]];
}

function responsesOf([route, { responses }]: [string, RouteCounts]): Sample[] {
  return [...responses].map(([response, count]) => {
    const [method = "", status = ""] = response.split(" ");
    return [{ route, method, status: status === "0" ? "none" : status }, count];
  });
}

function byRoute<T extends number | Histogram>(valueOf: (counts: RouteCounts) => T) {
  return ({ http }: ProcessSource): Sample<T>[] =>
    [...http.routes].map(([route, counts]) => [{ route }, valueOf(counts)]);
}

function byPart(valueOf: (use: MemoryUse) => number) {
  return ({ memory }: ProcessSource): Sample[] =>
    memory().map((use) => [{ part: use.part }, valueOf(use)]);
}

/** Reads nothing if the server makes no backups. The samples of snapshots have a label. */
function byBackup(valueOf: (status: BackupStatus) => number | undefined) {
  return ({ backups, snapshots }: ProcessSource): Sample[] | undefined => {
    if (backups === undefined && snapshots === undefined) return undefined;
    const kinds = [[{}, backups], [{ kind: "snapshots" }, snapshots]] as const;
    return kinds.flatMap(([labels, status]): Sample[] => {
      const value = status && valueOf(status());
      return value === undefined ? [] : [[labels, value]];
    });
  };
}

/** Reads nothing without https. The name of a certificate from a file is empty. */
function byCertificate(valueOf: (status: CertificateStatus) => number | undefined) {
  return ({ certificates }: ProcessSource): Sample[] | undefined =>
    certificates?.().flatMap((one): Sample[] => {
      const value = valueOf(one);
      return value === undefined ? [] : [[{ name: one.name }, value]];
    });
}

/** If there are too many projects, those with the most bytes are listed. */
function byProject(valueOf: (usage: UsedProject) => number) {
  return ({ projects }: StoreSource): Sample[] => {
    const listed = projects.length <= MAX_LISTED_PROJECTS
      ? projects
      : projects.toSorted((a, b) => b.bytes - a.bytes).slice(0, MAX_LISTED_PROJECTS);
    return listed.map((usage) => [{ project: usage.project }, valueOf(usage)]);
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
