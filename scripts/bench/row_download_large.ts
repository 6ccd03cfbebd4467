import { storeAndCheck } from "./checks.ts";
import type { Experiment, Measure } from "./experiment.ts";
import { startHttpLimit } from "./http_limit.ts";
import { Server, target } from "./server.ts";

const SIZE = 10 * 2 ** 20;

/** Large downloads, beside an HTTP server that answers the same bytes from memory. */
export const downloadLarge: readonly Experiment[] = [
  experiment("download 10 MiB, 1 connection", 1, 0.6),
  experiment("download 10 MiB, 4 connections", 4, 0.7),
];

function experiment(name: string, connections: number, required: number): Experiment {
  return {
    rows: [{ name, unit: "MB/s", bound: "at least", required }],
    async prepare({ scope, load }, checkout) {
      const server = await Server.start(scope, checkout);
      await storeAndCheck(server, "large", SIZE);
      const limit = await startHttpLimit(scope, SIZE);
      const measure = (origin: string, path: string): Measure => async () => {
        const sent = { origin, method: "GET", target: path, connections, seconds: 1 } as const;
        return [(await load(scope, sent)).megabytesPerSecond];
      };
      return { work: measure(server.origin, target.download("large")), limit: measure(limit, "/") };
    },
  };
}
