import { storeAndCheck } from "./checks.ts";
import type { Experiment } from "./experiment.ts";
import { peakMemory } from "./machine.ts";
import { Server, target } from "./server.ts";

const SIZE = 10 * 2 ** 20;
const TRANSFERS = 32;

/** 10^6 bytes. */
const LIMIT = 400;

/** The most memory that a server takes while many large transfers run. Each time it is a new process. */
export const memory: Experiment = {
  rows: [{
    name: "memory with 32 uploads and 32 downloads of 10 MiB",
    unit: "MB",
    bound: "at most",
    required: 1,
  }],
  async prepare({ scope, load }, checkout) {
    const work = async (): Promise<number[]> => {
      await using own = await scope.nested();
      const server = await Server.start(own, checkout);
      await storeAndCheck(server, "large", SIZE);
      const { origin } = server;
      const both = { origin, connections: TRANSFERS, seconds: 3 };
      await Promise.all([
        load(own, { ...both, method: "POST", target: target.file("new-{t}"), body: SIZE }),
        load(own, { ...both, method: "GET", target: target.download("large") }),
      ]);
      return [await peakMemory(server.pid)];
    };
    return await Promise.resolve({ work, limit: () => Promise.resolve([LIMIT]) });
  },
};
