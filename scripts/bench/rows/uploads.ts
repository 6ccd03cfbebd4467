import { delay } from "@std/async/delay";
import { type Experiment, figureOf, type Measure } from "../experiment.ts";
import { chunksLimit, smallFilesLimit } from "../limits.ts";
import type { Load } from "../load.ts";
import { Server, storeAndCheck, target } from "../server.ts";

const SMALL = 4096;
const LARGE = 10 * 2 ** 20;

/** Uploads to names that are new in each measurement, whose number is `run`. */
function small({ origin }: Server, run: number, seconds = 1, connections = 64): Load {
  const path = target.file(`small-${run}-{n}`);
  return { origin, method: "POST", target: path, body: SMALL, connections, seconds };
}

function large({ origin }: Server, run: number, seconds = 2, connections = 4): Load {
  const path = target.file(`large-${run}-{t}`);
  return { origin, method: "POST", target: path, body: LARGE, connections, seconds };
}

/** Small uploads to new names, compared with the same records put straight into Deno KV. */
export const uploadSmall: Experiment = {
  rows: [row("upload 4 KiB, 64 connections, new names", "req/s", 0.45)],
  async prepare(stage, checkout) {
    const server = await start(stage.scope, checkout);
    const put = await smallFilesLimit(stage.scope, SMALL);
    return {
      work: figureOf(stage, "perSecond", (run) => small(server, run)),
      limit: async () => [await put()],
    };
  },
};

/** Small uploads that overwrite 100 files, compared with those to new names. */
export const overwriteSmall: Experiment = {
  rows: [row("upload 4 KiB, 64 connections, the same 100 names", "req/s", 0.7)],
  async prepare(stage, checkout) {
    const server = await start(stage.scope, checkout);
    const names = Array.from({ length: 100 }, (_, n) => target.file(`same-${n}`));
    const again = { ...small(server, 0), target: names };
    return {
      work: figureOf(stage, "perSecond", () => again),
      limit: figureOf(stage, "perSecond", (run) => small(server, run)),
    };
  },
};

/** Small uploads into a project with a setting, compared with those into one without it. */
export const uploadWith: readonly Experiment[] = [
  { name: "into a project with a quota", required: 0.9, setting: { max_bytes: 10 ** 12 } },
  { name: "while changes are kept", required: 0.87, setting: { change_days: 7 } },
].map(({ name, required, setting }) => ({
  rows: [row(`upload 4 KiB ${name}`, "req/s", required)],
  async prepare(stage, checkout) {
    const server = await start(stage.scope, checkout);
    await server.administer(200, "PATCH", "", setting);
    const without = await start(stage.scope, checkout);
    return {
      work: figureOf(stage, "perSecond", (run) => small(server, run)),
      limit: figureOf(stage, "perSecond", (run) => small(without, run)),
    };
  },
}));

/** Large uploads, compared with the same chunks put straight into Deno KV. */
export const uploadLarge: Experiment = {
  rows: [
    row("upload 10 MiB, 1 connection", "MB/s", 0.75),
    row("upload 10 MiB, 4 connections", "MB/s", 0.85),
  ],
  async prepare(stage, checkout) {
    const data = await stage.scope.makeFolder();
    await (await Server.start(stage.scope, checkout, data)).stop();
    const put = await chunksLimit(stage.scope, data);
    const server = await Server.start(stage.scope, checkout, data);
    await storeAndCheck(server, "large", LARGE);
    const [one, four] = [1, 4].map((connections) =>
      figureOf(stage, "megabytesPerSecond", (run) => large(server, run, 2, connections))
    ) as [Measure, Measure];
    return {
      work: async () => [...await one(), ...await four()],
      limit: async () => {
        const figure = await put();
        return [figure, figure];
      },
    };
  },
};

/** Milliseconds until the other kind of requests is well under way. */
const RUN_UP = 500;

/** Large and small uploads at the same time, compared with each alone. */
export const together: Experiment = {
  rows: [
    row("upload 10 MiB beside uploads of 4 KiB", "MB/s", 0.7),
    row("upload 4 KiB beside uploads of 10 MiB", "req/s", 0.4),
    atMost("upload 4 KiB beside uploads of 10 MiB, median", 3),
  ],
  async prepare({ scope, load }, checkout) {
    const server = await start(scope, checkout);
    let run = 0;
    const uploadSmall = () => load(scope, small(server, run++, 2, 32));
    const uploadLarge = (seconds: number) => load(scope, large(server, run++, seconds));
    return {
      work: async () => {
        const loading = uploadLarge(3);
        await delay(RUN_UP);
        const { perSecond, median } = await uploadSmall();
        return [(await loading).megabytesPerSecond, perSecond, median];
      },
      limit: async () => {
        const { megabytesPerSecond } = await uploadLarge(2);
        const { perSecond, median } = await uploadSmall();
        return [megabytesPerSecond, perSecond, median];
      },
    };
  },
};

/** Small downloads beside large uploads, compared with those alone. */
export const besideUploads: Experiment = {
  rows: [
    atMost("download 4 KiB beside 8 uploads, median", 3),
    atMost("download 4 KiB beside 8 uploads, 99th percentile", 4),
  ],
  async prepare({ scope, load }, checkout) {
    const server = await start(scope, checkout);
    const { origin } = server;
    const path = target.download("small");
    const alone: Measure = async () => {
      const sent = { origin, method: "GET", target: path, connections: 32, seconds: 1 } as const;
      const { median, p99 } = await load(scope, sent);
      return [median, p99];
    };
    let run = 0;
    const beside: Measure = async () => {
      const uploading = load(scope, large(server, run++, 2, 8));
      await delay(RUN_UP);
      const figures = await alone();
      await uploading;
      return figures;
    };
    return { work: beside, limit: alone };
  },
};

async function start(...[scope, checkout]: Parameters<typeof Server.start>): Promise<Server> {
  const server = await Server.start(scope, checkout);
  await storeAndCheck(server, "small", SMALL);
  return server;
}

function row(name: string, unit: string, required: number): Experiment["rows"][number] {
  return { name, unit, bound: "at least", required };
}

function atMost(name: string, required: number): Experiment["rows"][number] {
  return { name, unit: "ms", bound: "at most", required };
}
