import { type Experiment, figureOf } from "../experiment.ts";
import { serveApplication, serveFromMemory } from "../limits.ts";
import { type Load, sendEach } from "../load.ts";
import { assert, inDrive, PROJECT_KEY, Server, storeAndCheck, target } from "../server.ts";

const SMALL = 4096;
const LARGE = 10 * 2 ** 20;

function get(origin: string, target: Load["target"], connections: number): Load {
  return { origin, method: "GET", target, connections, seconds: 1 };
}

/** Small downloads, compared with an HTTP server that answers from memory. */
export const downloadSmall: Experiment = {
  rows: [row("download 4 KiB, 32 connections", "req/s", 0.3)],
  async prepare(stage, checkout) {
    const { origin } = await startWith(stage.scope, checkout, SMALL);
    const limit = serveFromMemory(stage.scope, SMALL);
    return {
      work: figureOf(stage, "perSecond", () => get(origin, target.download("file"), 32)),
      limit: figureOf(stage, "perSecond", () => get(limit, "/", 32)),
    };
  },
};

/** Small downloads by a link, compared with the same with a key. */
export const downloadByLink: Experiment = {
  rows: [row("download 4 KiB by a link, 32 connections", "req/s", 0.9)],
  async prepare(stage, checkout) {
    const server = await startWith(stage.scope, checkout, SMALL);
    const links = inDrive("files", "/links");
    const { url } = await server.callJson<{ url: string }>(201, "POST", links, '{"name": "file"}');
    const measure = (path: string) =>
      figureOf(stage, "perSecond", () => get(server.origin, path, 32));
    return { work: measure(new URL(url).pathname), limit: measure(target.download("file")) };
  },
};

/** Downloads of more names than a cache holds. The limit is asked in the same way, so that the load costs the same. */
export const downloadNames: Experiment = {
  rows: [
    row("download 4 KiB, all names of a large drive", "req/s", 0.3),
    row("the same, and 5 % uploads", "req/s", 0.25),
  ],
  async prepare(stage, checkout) {
    const { origin } = await stage.stock.start(stage.scope, checkout);
    const limit = serveFromMemory(stage.scope, SMALL);
    const path = (name: string): string => inDrive("large", `/files/download?name=${name}`);
    const targets = stage.stock.names.map(path);
    const write = { every: 20, method: "POST", target: target.file("{n}"), body: SMALL } as const;
    const reads = figureOf(stage, "perSecond", () => get(origin, targets, 32));
    const mixed = figureOf(stage, "perSecond", () => ({ ...get(origin, targets, 32), write }));
    const ofMemory = figureOf(stage, "perSecond", () => get(limit, targets, 32));
    return {
      work: async () => [...await reads(), ...await mixed()],
      limit: async () => {
        const [figure = NaN] = await ofMemory();
        return [figure, figure];
      },
    };
  },
};

/** Large downloads, which come from the cache of chunks. */
export const downloadLarge: readonly Experiment[] = [1, 4].map((connections) => ({
  rows: [
    row(`download 10 MiB, ${connections} connection${connections > 1 ? "s" : ""}`, "MB/s", 0.8),
  ],
  async prepare(stage, checkout) {
    const { origin } = await startWith(stage.scope, checkout, LARGE);
    const limit = serveFromMemory(stage.scope, LARGE);
    const path = target.download("file");
    return {
      work: figureOf(stage, "megabytesPerSecond", () => get(origin, path, connections)),
      limit: figureOf(stage, "megabytesPerSecond", () => get(limit, "/", connections)),
    };
  },
}));

/** Large files that are downloaded in turn: more than the cache holds. */
const FILES = 40;

/** Large downloads from the store. */
export const downloadManyLarge: Experiment = {
  rows: [row(`download 10 MiB, ${FILES} files, 4 connections`, "MB/s", 0.8)],
  async prepare(stage, checkout) {
    const { origin } = await startWith(stage.scope, checkout, LARGE);
    const upload = { ...get(origin, target.file("{n}"), 2), method: "POST", body: LARGE } as const;
    await sendEach(stage.scope, upload, FILES);
    const limit = serveFromMemory(stage.scope, LARGE);
    const names = Array.from({ length: FILES }, (_, n) => String(n).padStart(10, "0"));
    const paths = names.map(target.download);
    return {
      work: figureOf(stage, "megabytesPerSecond", () => get(origin, paths, 4)),
      limit: figureOf(stage, "megabytesPerSecond", () => get(limit, paths, 4)),
    };
  },
};

/** Requests to a small application through the gate, compared with the application itself. */
export const gate: Experiment = {
  rows: [row("gate: requests to a small application", "req/s", 0.4)],
  async prepare(stage, checkout) {
    const upstream = serveApplication(stage.scope);
    const url = await protect(await startGate(stage.scope, checkout), upstream);
    return {
      work: figureOf(stage, "perSecond", () => get(url.origin, url.pathname, 32)),
      limit: figureOf(stage, "perSecond", () => get(upstream, "/", 32)),
    };
  },
};

/** Starts a server with a gate. */
export async function startGate(...[scope, checkout]: Start): Promise<Server> {
  return await Server.start(scope, checkout, undefined, { env: { KVDRIVE_APPS_PORT: "auto" } });
}

/** Puts an application behind the gate, where only the key opens it. Returns its address there. */
export async function protect(server: Server, upstream: string): Promise<URL> {
  const gate = /^Applications are at (\S+)$/m.exec(server.output)?.[1];
  assert(gate !== undefined, "the server has no gate");
  await server.administer(201, "POST", "/apps", { name: "small", upstream });
  await server.administer(200, "PUT", "/apps/small/access", { enabled: true });
  const url = new URL(`${gate}/bench/small/`);
  for (const [key, expected] of [["", 401], [PROJECT_KEY, 200]] as const) {
    const response = await fetch(url, { headers: key === "" ? {} : { "X-Api-Key": key } });
    await response.body?.cancel();
    assert(response.status === expected, `the gate answered ${response.status}, not ${expected}`);
  }
  return url;
}

type Start = Parameters<typeof Server.start>;

/** Starts a server that has a file. */
async function startWith(scope: Start[0], checkout: Start[1], size: number): Promise<Server> {
  const server = await Server.start(scope, checkout);
  await storeAndCheck(server, "file", size);
  return server;
}

function row(name: string, unit: string, required: number): Experiment["rows"][number] {
  return { name, unit, bound: "at least", required };
}
