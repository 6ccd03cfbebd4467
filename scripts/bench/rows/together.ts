import { delay } from "@std/async/delay";
import type { Experiment, Measure } from "../experiment.ts";
import type { Load } from "../load.ts";
import { Server, storeAndCheck, target } from "../server.ts";

const SMALL = 4096;
const LARGE = 10 * 2 ** 20;
const LARGE_CONNECTIONS = 4;
const SMALL_CONNECTIONS = 32;

/** Milliseconds until the other kind of uploads is well under way. */
const RUN_UP = 500;

/** Large and small uploads at the same time, compared with each alone. */
export const together: Experiment = {
  rows: [
    {
      name: "upload 10 MiB beside uploads of 4 KiB",
      unit: "MB/s",
      bound: "at least",
      required: 0.7,
    },
    {
      name: "upload 4 KiB beside uploads of 10 MiB",
      unit: "req/s",
      bound: "at least",
      required: 0.4,
    },
    {
      name: "upload 4 KiB beside uploads of 10 MiB, median",
      unit: "ms",
      bound: "at most",
      required: 3,
    },
  ],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    await storeAndCheck(server, "small", SMALL);
    let run = 0;
    const small = (seconds: number) => load(scope, smallUploads(server, run++, seconds));
    const large = (seconds: number) => load(scope, largeUploads(server, run++, seconds));
    const alone: Measure = async () => {
      const { megabytesPerSecond } = await large(2);
      const { perSecond, median } = await small(2);
      return [megabytesPerSecond, perSecond, median];
    };
    const both: Measure = async () => {
      const loading = large(3);
      await delay(RUN_UP);
      const { perSecond, median } = await small(2);
      const { megabytesPerSecond } = await loading;
      return [megabytesPerSecond, perSecond, median];
    };
    return { work: both, limit: alone };
  },
};

function smallUploads({ origin }: Server, run: number, seconds: number): Load {
  const path = target.file(`small-${run}-{n}`);
  const connections = SMALL_CONNECTIONS;
  return { origin, method: "POST", target: path, body: SMALL, connections, seconds };
}

function largeUploads({ origin }: Server, run: number, seconds: number): Load {
  const path = target.file(`large-${run}-{t}`);
  const connections = LARGE_CONNECTIONS;
  return { origin, method: "POST", target: path, body: LARGE, connections, seconds };
}
