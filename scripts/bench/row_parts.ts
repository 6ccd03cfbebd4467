import type { Experiment, Measure } from "./experiment.ts";
import type { PartsInput } from "./process_parts.ts";
import { runScript } from "./process.ts";
import { inDrive, PROJECT_KEY, Server } from "./server.ts";

const SIZE = 10 * 2 ** 20;
const AT_ONCE = 4;

/** One file in parts, beside the same bytes as files that come in one request each, from the same client. */
export const uploadParts: Experiment = {
  rows: [{
    name: "upload in 10 MiB parts, 4 at once, SHA-256 equal",
    unit: "MB/s",
    bound: "at least",
    required: 0.75,
  }],
  async prepare({ scope, full }, checkout) {
    const server = await Server.start(scope, checkout);
    const parts = Math.ceil((full ? 1024 : 256) / 10);
    let run = 0;
    const measure = (kind: PartsInput["kind"]): Measure => async () => {
      const input: PartsInput = {
        drive: server.origin + inDrive("files", ""),
        headers: { "X-Api-Key": PROJECT_KEY },
        kind,
        name: `run-${run++}`,
        parts,
        size: SIZE,
        atOnce: AT_ONCE,
      };
      return [parts * SIZE / 1e6 / await runScript<number>(scope, "process_parts.ts", input)];
    };
    return { work: measure("parts"), limit: measure("files") };
  },
};
