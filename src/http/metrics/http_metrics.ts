import type { RequestContext, RequestKind, RequestMeter } from "../request_context.ts";
import { type Exposition, Histogram, type Sample } from "./exposition.ts";

/** Bounds in seconds: from a response out of memory to a large transfer over a slow line. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

class RouteCounts {
  /** By method and status, separated by a space. */
  readonly responses = new Map<string, number>();
  readonly duration = new Histogram(SECONDS);
  received = 0;
  sent = 0;
  aborted = 0;
}

/**
 * The metrics of requests. A client library for Prometheus took 45 ms to load, half as long as the server's start, and left
 * this code to be written all the same.
 */
export class HttpMetrics implements RequestMeter {
  readonly #routes = new Map<string, RouteCounts>();
  readonly running: Record<RequestKind, number> = { upload: 0, download: 0, gate: 0, other: 0 };
  readonly #outcomes = new Map<string, number>();
  readonly #links = new Map<string, number>();

  begin(kind: RequestKind): void {
    this.running[kind]++;
  }

  end(context: RequestContext, milliseconds: number): void {
    if (context.isRunning) this.running[context.kind]--;
    let route = this.#routes.get(context.route);
    if (route === undefined) this.#routes.set(context.route, route = new RouteCounts());
    countIn(route.responses, `${context.method} ${context.status}`);
    route.duration.observe(milliseconds / 1000);
    route.received += context.received;
    route.sent += context.sent;
    if (context.isAborted) route.aborted++;
    if (context.kind === "gate") countIn(this.#outcomes, outcomeOf(context));
    if (context.link !== undefined) countIn(this.#links, context.link);
  }

  write(to: Exposition): void {
    to.counter(
      "kvdrive_http_requests_total",
      "Finished requests by route, method and status (none: the client disconnected before the response).",
      this.#each(function* (route, { responses }) {
        for (const [response, count] of responses) {
          const [method = "", status = ""] = response.split(" ");
          yield [{ route, method, status: status === "0" ? "none" : status }, count];
        }
      }),
    );
    to.histogram(
      "kvdrive_http_request_duration_seconds",
      "Time from the head of the request to the end of its response.",
      this.#each((route, { duration }) => [[{ route }, duration]]),
    );
    to.counter(
      "kvdrive_http_received_bytes_total",
      "Bytes of request bodies.",
      this.#each((route, { received }) => [[{ route }, received]]),
    );
    to.counter(
      "kvdrive_http_sent_bytes_total",
      "Bytes of response bodies.",
      this.#each((route, { sent }) => [[{ route }, sent]]),
    );
    to.counter(
      "kvdrive_http_aborted_total",
      "Requests that were aborted by the client or the server in the middle of a body.",
      this.#each((route, { aborted }) => [[{ route }, aborted]]),
    );
    to.gauge(
      "kvdrive_http_running",
      "Running requests.",
      Object.entries(this.running).map(([kind, count]) => [{ kind }, count]),
      { isSum: true },
    );
    to.counter(
      "kvdrive_gate_requests_total",
      "Requests to the gate: forwarded to an application, refused, answered by the gate, failed, or aborted.",
      [...this.#outcomes].map(([outcome, count]) => [{ outcome }, count]),
    );
    to.counter(
      "kvdrive_link_requests_total",
      "Requests for links, by what they got: file, archive, page, or why they got nothing.",
      [...this.#links].map(([outcome, count]) => [{ outcome }, count]),
    );
  }

  *#each<T>(
    samplesOf: (route: string, counts: RouteCounts) => Iterable<Sample<T>>,
  ): Generator<Sample<T>> {
    for (const [route, counts] of this.#routes) yield* samplesOf(route, counts);
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
