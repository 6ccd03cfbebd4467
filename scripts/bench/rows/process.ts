import type { Experiment, Measure } from "../experiment.ts";
import { peakMemory } from "../report.ts";
import { assert, inDrive, Server, storeAndCheck, target } from "../server.ts";
import { DRIVES } from "../stock.ts";

/** How long a server takes to start on a store with many files, beside an empty one. */
export const start: Experiment = {
  rows: [{
    name: "start to the first answer, with a large drive",
    unit: "ms",
    bound: "at most",
    required: 1.5,
  }],
  async prepare({ scope, stock }, checkout) {
    const startOn = (data: string, isEmpty: boolean): Measure => async () => {
      const server = await Server.start(scope, checkout, data);
      const path = inDrive(DRIVES.large, "/files?limit=1");
      const { names } = await server.callJson<{ names: string[] }>(200, "GET", path);
      const { age } = server;
      assert((names.length === 0) === isEmpty, `${names.length} names are listed`);
      await server.stop();
      return [age];
    };
    return {
      work: startOn(await stock.folder(checkout), false),
      limit: startOn(await scope.makeFolder(), true),
    };
  },
};

const SIZE = 10 * 2 ** 20;
const TRANSFERS = 32;

/** 10^6 bytes. */
const LIMIT = 300;

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
