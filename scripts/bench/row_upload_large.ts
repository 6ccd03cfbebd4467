import { storeAndCheck } from "./checks.ts";
import type { Experiment } from "./experiment.ts";
import { chunksLimit } from "./kv_limit.ts";
import { Server, target } from "./server.ts";

const SIZE = 10 * 2 ** 20;

/** Large uploads, beside the same chunks put straight into the store. */
export const uploadLarge: Experiment = {
  rows: [row("upload 10 MiB, 1 connection"), row("upload 10 MiB, 4 connections")],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    await storeAndCheck(server, "large", SIZE);
    let run = 0;
    const upload = async (connections: number): Promise<number> => {
      const name = `run-${run++}-{t}`;
      const sent = { origin: server.origin, method: "POST", target: target.file(name) } as const;
      const { megabytesPerSecond } = await load(scope, {
        ...sent,
        body: SIZE,
        connections,
        seconds: 2,
      });
      return megabytesPerSecond;
    };
    const put = await chunksLimit(scope);
    return {
      work: async () => [await upload(1), await upload(4)],
      limit: async () => {
        const figure = await put();
        return [figure, figure];
      },
    };
  },
};

function row(name: string): Experiment["rows"][number] {
  return { name, unit: "MB/s", bound: "at least", required: 0.75 };
}
