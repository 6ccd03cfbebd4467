import type { Experiment, Measure } from "../experiment.ts";
import { sendEach } from "../load.ts";
import { davHeaders, davTarget, inDrive, Server, storeAndCheck, target } from "../server.ts";

const SMALL_SIZE = 4096;

/** Small downloads over WebDAV, beside those of the drive API. */
export const downloadOverWebdav: Experiment = {
  rows: [row("WebDAV: download 4 KiB, 32 connections", "req/s", 0.9)],
  async prepare({ scope, load }, checkout) {
    const { origin } = await startServer(scope, checkout);
    const measure = (path: string): Measure => async () => {
      const sent = { origin, method: "GET", target: path, headers: davHeaders } as const;
      return [(await load(scope, { ...sent, connections: 32, seconds: 1 })).perSecond];
    };
    return { work: measure(davTarget("small")), limit: measure(target.download("small")) };
  },
};

/** Small uploads to new names over WebDAV, beside those of the drive API. */
export const uploadOverWebdav: Experiment = {
  rows: [row("WebDAV: upload 4 KiB, 64 connections, new names", "req/s", 0.9)],
  async prepare({ scope, load }, checkout) {
    const { origin } = await startServer(scope, checkout);
    let run = 0;
    const measure =
      (method: "PUT" | "POST", targetOf: (name: string) => string): Measure => async () => {
        const { perSecond } = await load(scope, {
          origin,
          method,
          target: targetOf(`run-${run++}-{n}`),
          headers: davHeaders,
          body: SMALL_SIZE,
          connections: 64,
          seconds: 1,
        });
        return [perSecond];
      };
    return { work: measure("PUT", davTarget), limit: measure("POST", target.file) };
  },
};

const ENTRIES = 1000;

/** A folder over WebDAV, beside the list of the drive API with details. */
export const listOverWebdav: Experiment = {
  rows: [row("WebDAV: PROPFIND of 1000 files, 8 connections", "req/s", 0.5)],
  async prepare({ scope, load }, checkout) {
    const { origin } = await startServer(scope, checkout);
    const upload = {
      origin,
      method: "POST",
      target: inDrive("list", "/files?name=file-{n}"),
    } as const;
    await sendEach(scope, { ...upload, body: 10, connections: 8, seconds: 0 }, ENTRIES);
    const measure = (method: "GET" | "PROPFIND", path: string): Measure => async () => {
      const headers = { ...davHeaders, Depth: "1" };
      const sent = { origin, method, target: path, headers } as const;
      return [(await load(scope, { ...sent, connections: 8, seconds: 1 })).perSecond];
    };
    return {
      work: measure("PROPFIND", davTarget("", "list")),
      limit: measure("GET", inDrive("list", "/files?details=true")),
    };
  },
};

function row(name: string, unit: string, required: number): Experiment["rows"][number] {
  return { name, unit, bound: "at least", required };
}

async function startServer(...start: Parameters<typeof Server.start>): Promise<Server> {
  const server = await Server.start(...start);
  await storeAndCheck(server, "small", SMALL_SIZE);
  return server;
}
