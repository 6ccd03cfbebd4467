/**
 * What a process counts while it runs. `table.ts` has the metrics that are read from it. A client library for Prometheus
 * took 45 ms to load, half as long as the server's start, and left this code to be written all the same.
 *
 * @module
 */
import type {
  CommitOutcome,
  ScrubOutcome,
  StoreMeter,
  SweptKind,
} from "../../store/engine/commits.ts";
import type { RequestContext, RequestKind, RequestMeter } from "../request_context.ts";
import { Histogram } from "./exposition.ts";

/** Bounds in seconds: from a response out of memory to a large transfer over a slow line. */
const REQUEST_SECONDS = [
  0.001,
  0.0025,
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
  30,
  60,
];

/** Bounds for the operations in one commit, which allows some hundred. */
const COMMIT_MEMBERS = [1, 2, 4, 8, 16, 32, 64, 128];

/** Bounds in seconds: a sync takes less than a millisecond on a good disk, and a tenth of a second on a bad one. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Bounds in seconds: a delivery ends after ten. */
const DELIVERY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class RouteCounts {
  /** By method and status, separated by a space. */
  readonly responses = new Map<string, number>();
  readonly duration = new Histogram(REQUEST_SECONDS);
  received = 0;
  sent = 0;
  aborted = 0;
}

/** Counts the requests. */
export class HttpMetrics implements RequestMeter {
  readonly routes = new Map<string, RouteCounts>();
  readonly running: Record<RequestKind, number> = { upload: 0, download: 0, gate: 0, other: 0 };
  readonly gateOutcomes = new Map<string, number>();
  readonly linkOutcomes = new Map<string, number>();

  begin(kind: RequestKind): void {
    this.running[kind]++;
  }

  end(context: RequestContext, milliseconds: number): void {
    if (context.isRunning) this.running[context.kind]--;
    let route = this.routes.get(context.route);
    if (route === undefined) this.routes.set(context.route, route = new RouteCounts());
    countIn(route.responses, `${context.method} ${context.status}`);
    route.duration.observe(milliseconds / 1000);
    route.received += context.received;
    route.sent += context.sent;
    if (context.isAborted) route.aborted++;
    if (context.kind === "gate") countIn(this.gateOutcomes, outcomeOf(context));
    if (context.link !== undefined) countIn(this.linkOutcomes, context.link);
  }
}

function countIn(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function outcomeOf({ isAborted, isForwarded, status }: RequestContext): string {
  if (isAborted) return "aborted";
  if (isForwarded) return "forwarded";
  if (status >= 500) return "failed";
  return status >= 400 ? "refused" : "answered";
}

/** Counts the operations of the store. */
export class StoreMetrics implements StoreMeter {
  readonly commits: Record<CommitOutcome, number> = { done: 0, refused: 0, failed: 0 };
  readonly commitMembers = new Histogram(COMMIT_MEMBERS);
  readonly commitDuration = new Histogram(COMMIT_SECONDS);
  readonly removed: Record<SweptKind, number> = {
    chunks: 0,
    manifest: 0,
    reference: 0,
    trash: 0,
    whole_trash: 0,
    upload: 0,
    parts: 0,
    entry: 0,
    expired_file: 0,
    link: 0,
    links: 0,
  };
  readonly scrubbedFiles: Record<ScrubOutcome, number> = { whole: 0, converted: 0, damaged: 0 };
  readonly scrubs = { done: 0, failed: 0 };
  scrubbedBytes = 0;
  damagedReads = 0;
  retries = 0;
  takeovers = 0;
  readonly sweeps = { done: 0, failed: 0 };
  sweepSeconds = 0;
  /** Seconds since 1970. */
  lastSweep: number | undefined;

  committed(outcome: CommitOutcome, members: number, milliseconds: number): void {
    this.commits[outcome]++;
    if (outcome !== "done") return;
    this.commitMembers.observe(members);
    this.commitDuration.observe(milliseconds / 1000);
  }

  retried(): void {
    this.retries++;
  }

  swept(kind: SweptKind): void {
    this.removed[kind]++;
  }

  tookOver(): void {
    this.takeovers++;
  }

  sweepEnded(succeeded: boolean, milliseconds: number): void {
    this.sweeps[succeeded ? "done" : "failed"]++;
    this.sweepSeconds += milliseconds / 1000;
    if (succeeded) this.lastSweep = Date.now() / 1000;
  }

  damageRead(): void {
    this.damagedReads++;
  }

  scrubbed(bytes: number): void {
    this.scrubbedBytes += bytes;
  }

  fileScrubbed(outcome: ScrubOutcome): void {
    this.scrubbedFiles[outcome]++;
  }

  scrubEnded(succeeded: boolean): void {
    this.scrubs[succeeded ? "done" : "failed"]++;
  }
}

/** Counts the deliveries of webhooks. */
export class WebhookMetrics {
  readonly deliveries = { accepted: 0, failed: 0 };
  readonly duration = new Histogram(DELIVERY_SECONDS);
  changes = 0;
  disabledWebhooks = 0;

  delivered(outcome: "accepted" | "failed", milliseconds: number, changes: number): void {
    this.deliveries[outcome]++;
    this.duration.observe(milliseconds / 1000);
    if (outcome === "accepted") this.changes += changes;
  }

  disabled(): void {
    this.disabledWebhooks++;
  }
}
