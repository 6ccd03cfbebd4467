import type { Experiment, Measure } from "../experiment.ts";
import { startHttpLimit } from "../limits.ts";
import { sendEach } from "../load.ts";
import { inDrive, Server, storeAndCheck, target } from "../server.ts";

const SMALL_SIZE = 4096;
const CONNECTIONS = 32;
const DRIVE = "names";

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
    await storeAndCheck(server, "small", SMALL_SIZE);
    const limit = await startHttpLimit(scope, SMALL_SIZE);
    const measure = (origin: string, path: string): Measure => async () => {
      const sent = { origin, method: "GET", target: path } as const;
      return [(await load(scope, { ...sent, connections: CONNECTIONS, seconds: 1 })).perSecond];
    };
    return { work: measure(server.origin, target.download("small")), limit: measure(limit, "/") };
  },
};

/** Files among which requests choose. */
const NAMES = 100_000;

/** Small downloads of many names, which no cache can hold, beside an HTTP server that answers from memory. */
export const downloadNames: Experiment = {
  rows: [
    { name: "download 4 KiB, 100,000 names", unit: "req/s", bound: "at least", required: 0.3 },
    { name: "the same, and 5 % uploads", unit: "req/s", bound: "at least", required: 0.25 },
  ],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    const { origin } = server;
    const upload = inDrive(DRIVE, "/files?name=file-{n}");
    const fill = { origin, method: "POST", target: upload, body: SMALL_SIZE } as const;
    await sendEach(scope, { ...fill, connections: 64, seconds: 0 }, NAMES);
    const limit = await startHttpLimit(scope, SMALL_SIZE);
    const download = {
      origin,
      method: "GET",
      target: inDrive(DRIVE, "/files/download?name=file-{n}"),
      cycle: NAMES,
      isScattered: true,
      connections: CONNECTIONS,
      seconds: 1,
    } as const;
    const write = { every: 20, target: inDrive(DRIVE, "/files?name=new-{n}"), body: SMALL_SIZE };
    const ofMemory = { origin: limit, method: "GET", target: "/" } as const;
    return {
      work: async () => [
        (await load(scope, download)).perSecond,
        (await load(scope, { ...download, write })).perSecond,
      ],
      limit: async () => {
        const sent = { ...ofMemory, connections: CONNECTIONS, seconds: 1 };
        const { perSecond } = await load(scope, sent);
        return [perSecond, perSecond];
      },
    };
  },
};

const LARGE_SIZE = 10 * 2 ** 20;

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
      await storeAndCheck(server, "large", LARGE_SIZE);
      const limit = await startHttpLimit(scope, LARGE_SIZE);
      const measure = (origin: string, path: string): Measure => async () => {
        const sent = { origin, method: "GET", target: path, connections, seconds: 1 } as const;
        return [(await load(scope, sent)).megabytesPerSecond];
      };
      return { work: measure(server.origin, target.download("large")), limit: measure(limit, "/") };
    },
  };
}
