import { HttpMetrics } from "./metrics/http_metrics.ts";
import { Readiness } from "./readiness.ts";
import type { Deps } from "./router.ts";
import { Visit } from "./visit.ts";
import { Watch } from "./watch.ts";

/** What nobody looks at, for tests of something else. */
export function unobserved(): Pick<Deps, "watch" | "metrics" | "metricsToken" | "readiness"> {
  return {
    watch: new Watch(new HttpMetrics()),
    metrics: { render: () => Promise.resolve("") },
    metricsToken: undefined,
    readiness: new Readiness(() => Promise.resolve()),
  };
}

/** A request that has just come. */
export function someVisit(): Visit {
  return new Visit("r1", "GET", 0);
}
