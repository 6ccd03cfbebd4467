import { assert } from "./checks.ts";
import type { Experiment, Measure } from "./experiment.ts";
import { inDrive, Server } from "./server.ts";
import { DRIVES } from "./stock.ts";

/** How long a server takes to start on a store with many files, beside an empty one. */
export const start: Experiment = {
  rows: [{
    name: "start to the ready line with a large drive",
    unit: "ms",
    bound: "at most",
    required: 1.5,
  }],
  async prepare({ scope, stock }, checkout) {
    const startOn = (data: string, isEmpty: boolean): Measure => async () => {
      const server = await Server.start(scope, checkout, data);
      const path = inDrive(DRIVES.large, "/files?limit=1");
      const { names } = await server.callJson<{ names: string[] }>(200, "GET", path);
      assert((names.length === 0) === isEmpty, `${names.length} names are listed`);
      await server.stop();
      return [server.startTime];
    };
    return {
      work: startOn(await stock.folder(checkout), false),
      limit: startOn(await scope.makeFolder(), true),
    };
  },
};
