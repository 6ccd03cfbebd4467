import { equals } from "@std/bytes/equals";
import type { Experiment, Measure, Stage } from "../experiment.ts";
import { startHttpLimit } from "../limits.ts";
import { sendEach } from "../load.ts";
import { assert, inDrive, randomBytes, Server, storeAndCheck, target } from "../server.ts";

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

/** Small downloads by a link, beside the same with a key. */
export const downloadByLink: Experiment = {
  rows: [{
    name: "download 4 KiB by a link, 32 connections",
    unit: "req/s",
    bound: "at least",
    required: 0.9,
  }],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    await storeAndCheck(server, "small", SMALL_SIZE);
    const [, drive = ""] = /^(\/v1\/[^/]+\/[^/]+)\//.exec(target.download("small")) ?? [];
    const made = await server.call(201, "POST", `${drive}/links`, '{"name": "small"}');
    const { url } = JSON.parse(new TextDecoder().decode(made)) as { url: string };
    const measure = (path: string): Measure => async () => {
      const sent = { origin: server.origin, method: "GET", target: path } as const;
      return [(await load(scope, { ...sent, connections: CONNECTIONS, seconds: 1 })).perSecond];
    };
    return { work: measure(new URL(url).pathname), limit: measure(target.download("small")) };
  },
};

/** Files among which requests choose. */
const NAMES = 100_000;

/**
 * Small downloads of many names, which no cache can hold, beside an HTTP server that answers from memory. That is asked
 * in the same way, so that the load costs the same.
 */
export const downloadNames: Experiment = {
  rows: [
    { name: "download 4 KiB, 100,000 names", unit: "req/s", bound: "at least", required: 0.3 },
    { name: "the same, and 5 % uploads", unit: "req/s", bound: "at least", required: 0.25 },
    {
      name: "download 4 KiB, 100,000 names, new connections",
      unit: "req/s",
      bound: "at least",
      required: 0.3,
    },
  ],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    const { origin } = server;
    const upload = inDrive(DRIVE, "/files?name=file-{n}");
    const fill = { origin, method: "POST", target: upload, body: SMALL_SIZE } as const;
    await sendEach(scope, { ...fill, connections: 64, seconds: 0 }, NAMES);
    const limit = await startHttpLimit(scope, SMALL_SIZE);
    const scattered = {
      method: "GET",
      cycle: NAMES,
      isScattered: true,
      connections: CONNECTIONS,
      seconds: 1,
    } as const;
    const path = inDrive(DRIVE, "/files/download?name=file-{n}");
    const download = { ...scattered, origin, target: path };
    const ofMemory = { ...scattered, origin: limit, target: "/?name=file-{n}" };
    const write = { every: 20, target: inDrive(DRIVE, "/files?name=new-{n}"), body: SMALL_SIZE };
    return {
      work: async () => [
        (await load(scope, download)).perSecond,
        (await load(scope, { ...download, write })).perSecond,
        (await load(scope, { ...download, reconnect: true })).perSecond,
      ],
      limit: async () => {
        const { perSecond } = await load(scope, ofMemory);
        const reconnecting = await load(scope, { ...ofMemory, reconnect: true });
        return [perSecond, perSecond, reconnecting.perSecond];
      },
    };
  },
};

const LARGE_SIZE = 10 * 2 ** 20;

/** Large downloads, beside an HTTP server that streams the same bytes from memory. */
export const downloadLarge: readonly Experiment[] = [
  experiment("download 10 MiB, 1 connection", 1, 0.8),
  experiment("download 10 MiB, 4 connections", 4, 0.8),
];

function experiment(name: string, connections: number, required: number): Experiment {
  return {
    rows: [{ name, unit: "MB/s", bound: "at least", required }],
    async prepare(stage, checkout) {
      const server = await Server.start(stage.scope, checkout);
      await storeAndCheck(server, "large", LARGE_SIZE);
      const limit = await startHttpLimit(stage.scope, LARGE_SIZE);
      return {
        work: throughput(stage, server.origin, target.download("large"), connections),
        limit: throughput(stage, limit, "/", connections),
      };
    },
  };
}

function throughput(
  { scope, load }: Stage,
  origin: string,
  path: string,
  connections: number,
): Measure {
  const sent = { origin, method: "GET", target: path, connections, seconds: 1 } as const;
  return async () => [(await load(scope, sent)).megabytesPerSecond];
}

/** Large files that are downloaded in turn: more than the cache of repeated downloads holds. */
const LARGE_FILES = 40;

/** Large downloads of many files, none of which comes from a cache of the server. */
export const downloadManyLarge: Experiment = {
  rows: [{
    name: "download 10 MiB, 40 files, 4 connections",
    unit: "MB/s",
    bound: "at least",
    required: 0.8,
  }],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    const { origin } = server;
    const upload = inDrive(DRIVE, "/files?name=large-{n}");
    const fill = { origin, method: "POST", target: upload, body: LARGE_SIZE } as const;
    await sendEach(scope, { ...fill, connections: 2, seconds: 0 }, LARGE_FILES);
    const limit = await startHttpLimit(scope, LARGE_SIZE);
    const cycle = { method: "GET", cycle: LARGE_FILES, connections: 4, seconds: 1 } as const;
    const path = inDrive(DRIVE, "/files/download?name=large-{n}");
    const measure = (origin: string, target: string): Measure => async () => [
      (await load(scope, { ...cycle, origin, target })).megabytesPerSecond,
    ];
    return { work: measure(origin, path), limit: measure(limit, "/?name=large-{n}") };
  },
};

const PARTS = 10;

/** A file that was uploaded in parts, beside an HTTP server that streams the same amount from memory. */
export const downloadParts: Experiment = {
  rows: [{
    name: "download 100 MiB made of 10 parts, 1 connection",
    unit: "MB/s",
    bound: "at least",
    required: 0.8,
  }],
  async prepare(stage, checkout) {
    const server = await Server.start(stage.scope, checkout);
    await storeInParts(server, "parts");
    const limit = await startHttpLimit(stage.scope, PARTS * LARGE_SIZE);
    return {
      work: throughput(stage, server.origin, target.download("parts"), 1),
      limit: throughput(stage, limit, "/", 1),
    };
  },
};

async function storeInParts(server: Server, name: string): Promise<void> {
  const parts = Array.from({ length: PARTS }, () => randomBytes(LARGE_SIZE));
  const start = inDrive("files", `/uploads?name=${name}`);
  const { upload_id } = await server.callJson<{ upload_id: string }>(202, "POST", start);
  const upload = inDrive("files", `/uploads/${upload_id}`);
  for (const [i, bytes] of parts.entries()) {
    await server.call(200, "POST", `${upload}/parts?name=${name}&part=${i + 1}`, bytes);
  }
  await server.call(200, "PATCH", `${upload}?name=${name}`);
  const answer = await server.call(200, "GET", target.download(name));
  const same = parts.every((bytes, i) =>
    equals(answer.subarray(i * LARGE_SIZE, (i + 1) * LARGE_SIZE), bytes)
  );
  assert(same && answer.byteLength === PARTS * LARGE_SIZE, `${name} comes back with other bytes`);
}
