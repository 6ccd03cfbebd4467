import { storeAndCheck } from "./checks.ts";
import type { Experiment, Measure } from "./experiment.ts";
import { startHttpLimit } from "./http_limit.ts";
import { Server, target } from "./server.ts";

const SIZE = 4096;
const CONNECTIONS = 32;

/** Small downloads, beside an HTTP server that answers from memory. */
export const downloadSmall: Experiment = {
  rows: [{
    name: "download 4 KiB, 32 connections",
    unit: "req/s",
    bound: "at least",
    required: 0.3,
  }],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    await storeAndCheck(server, "small", SIZE);
    const limit = await startHttpLimit(scope, SIZE);
    const measure = (origin: string, path: string): Measure => async () => {
      const sent = { origin, method: "GET", target: path } as const;
      return [(await load(scope, { ...sent, connections: CONNECTIONS, seconds: 1 })).perSecond];
    };
    return { work: measure(server.origin, target.download("small")), limit: measure(limit, "/") };
  },
};
