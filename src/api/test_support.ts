import { HttpMetrics } from "../http/metrics/http_metrics.ts";
import { RequestContext } from "../http/request_context.ts";
import { RequestObserver } from "../http/request_observer.ts";
import type { Deps } from "./router.ts";
import { Readiness } from "./server/health.ts";

/** What nobody looks at, for tests of something else. */
export function unobserved(): Pick<Deps, "watch" | "metrics" | "metricsToken" | "readiness"> {
  return {
    watch: new RequestObserver(new HttpMetrics()),
    metrics: { render: () => Promise.resolve("") },
    metricsToken: undefined,
    readiness: new Readiness(() => Promise.resolve()),
  };
}

/** A request that has just come. */
export function someVisit(): RequestContext {
  return new RequestContext("r1", "GET", 0);
}
