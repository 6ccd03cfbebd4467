import { delay } from "@std/async/delay";
import type { Experiment, Measure } from "../experiment.ts";
import type { Load } from "../load.ts";
import { Server, storeAndCheck, target } from "../server.ts";

const SMALL = 4096;
const LARGE = 10 * 2 ** 20;
const UPLOADS = 8;

/** Milliseconds until the uploads are well under way. */
const RUN_UP = 500;

/** How much longer small downloads take while large uploads run. */
export const besideUploads: Experiment = {
  rows: [
    {
      name: "download 4 KiB beside 8 uploads, median",
      unit: "ms",
      bound: "at most",
      required: 3,
    },
    {
      name: "download 4 KiB beside 8 uploads, 99th percentile",
      unit: "ms",
      bound: "at most",
      required: 4,
    },
  ],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    await storeAndCheck(server, "small", SMALL);
    const alone: Measure = async () => {
      const { median, p99 } = await load(scope, downloads(server));
      return [median, p99];
    };
    let run = 0;
    const beside: Measure = async () => {
      const uploading = load(scope, uploads(server, run++));
      await delay(RUN_UP);
      const [figures] = await Promise.all([alone(), uploading]);
      return figures;
    };
    return { work: beside, limit: alone };
  },
};

function downloads({ origin }: Server): Load {
  const path = target.download("small");
  return { origin, method: "GET", target: path, connections: 32, seconds: 1 };
}

function uploads({ origin }: Server, run: number): Load {
  const path = target.file(`run-${run}-{t}`);
  return { origin, method: "POST", target: path, body: LARGE, connections: UPLOADS, seconds: 2 };
}
