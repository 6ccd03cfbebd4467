import type { HttpMetrics } from "./metrics/http_metrics.ts";
import { RequestContext, type RequestKind } from "./request_context.ts";
import type { RequestLog } from "./request_log.ts";

/** Sees every request begin and end, and tells the log and the metrics. */
export class RequestObserver {
  readonly #log: RequestLog | undefined;
  readonly #metrics: HttpMetrics;

  constructor(metrics: HttpMetrics, log?: RequestLog) {
    this.#metrics = metrics;
    this.#log = log;
  }

  /** A request has come. `end` has to be called when it is over. */
  begin(id: string, method: string): RequestContext {
    return new RequestContext(id, method, performance.now());
  }

  /** It is known where it goes. */
  route(visit: RequestContext, route: string, kind: RequestKind): void {
    visit.route = route;
    visit.kind = kind;
    visit.isRunning = true;
    this.#metrics.begin(kind);
  }

  /** A request is over. */
  end(visit: RequestContext): void {
    const milliseconds = performance.now() - visit.began;
    this.#metrics.end(visit, milliseconds);
    this.#log?.record(visit, milliseconds);
  }
}
