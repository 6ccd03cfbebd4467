import type { Experiment, Measure, Stage } from "../experiment.ts";
import { chunksLimit, smallFilesLimit } from "../limits.ts";
import type { PartsInput } from "../process_parts.ts";
import { runScript } from "../scope.ts";
import { inDrive, PROJECT_KEY, Server, storeAndCheck, target } from "../server.ts";

const SMALL_SIZE = 4096;
const CONNECTIONS = 64;
const OVERWRITTEN = 100;

/** Small uploads to new names, compared with the same records written directly to the store. */
export const uploadSmall: Experiment = {
  rows: [{
    name: "upload 4 KiB, 64 connections, new names",
    unit: "req/s",
    bound: "at least",
    required: 0.45,
  }],
  async prepare(stage, checkout) {
    const server = await startServer(stage, checkout);
    const put = await smallFilesLimit(stage.scope);
    return {
      work: uploads(stage, server, undefined),
      limit: async () => [await put()],
    };
  },
};

/** Small uploads that overwrite each other, beside those to new names. */
export const overwriteSmall: Experiment = {
  rows: [{
    name: "upload 4 KiB, 64 connections, the same 100 names",
    unit: "req/s",
    bound: "at least",
    required: 0.7,
  }],
  async prepare(stage, checkout) {
    const server = await startServer(stage, checkout);
    return {
      work: uploads(stage, server, OVERWRITTEN),
      limit: uploads(stage, server, undefined),
    };
  },
};

/** Bytes that no run comes near. */
const QUOTA = 10 ** 12;

/** Small uploads into a project with a quota, beside those into one without. */
export const uploadWithQuota: Experiment = {
  rows: [{
    name: "upload 4 KiB into a project with a quota",
    unit: "req/s",
    bound: "at least",
    required: 0.9,
  }],
  async prepare(stage, checkout) {
    const limited = await Server.startWithAdministrator(stage.scope, checkout);
    await storeAndCheck(limited, "small", SMALL_SIZE);
    await limited.setQuota(QUOTA);
    const unlimited = await startServer(stage, checkout);
    return {
      work: uploads(stage, limited, undefined),
      limit: uploads(stage, unlimited, undefined),
    };
  },
};

/** Days for which changes are kept. */
const CHANGE_DAYS = 7;

/** Small uploads whose changes are kept, beside those whose changes are not: at most 15 % more time. */
export const uploadWithFeed: Experiment = {
  rows: [{
    name: "upload 4 KiB while changes are kept",
    unit: "req/s",
    bound: "at least",
    required: 0.87,
  }],
  async prepare(stage, checkout) {
    const recorded = await Server.startWithAdministrator(stage.scope, checkout);
    await storeAndCheck(recorded, "small", SMALL_SIZE);
    await recorded.keepChanges(CHANGE_DAYS);
    const unrecorded = await startServer(stage, checkout);
    return {
      work: uploads(stage, recorded, undefined),
      limit: uploads(stage, unrecorded, undefined),
    };
  },
};

async function startServer(
  { scope }: Stage,
  checkout: Parameters<Experiment["prepare"]>[1],
): Promise<Server> {
  const server = await Server.start(scope, checkout);
  await storeAndCheck(server, "small", SMALL_SIZE);
  return server;
}

function uploads({ scope, load }: Stage, { origin }: Server, cycle: number | undefined): Measure {
  let run = 0;
  return async () => {
    const name = cycle === undefined ? `run-${run++}-{n}` : "same-{n}";
    const { perSecond } = await load(scope, {
      origin,
      method: "POST",
      target: target.file(name),
      ...(cycle === undefined ? {} : { cycle }),
      body: SMALL_SIZE,
      connections: CONNECTIONS,
      seconds: 1,
    });
    return [perSecond];
  };
}

const LARGE_SIZE = 10 * 2 ** 20;

/** Large uploads, beside the same chunks put straight into the store. */
export const uploadLarge: Experiment = {
  rows: [row("upload 10 MiB, 1 connection", 0.75), row("upload 10 MiB, 4 connections", 0.85)],
  async prepare({ scope, load }, checkout) {
    const data = await scope.makeFolder();
    const server = await Server.start(scope, checkout, data);
    await storeAndCheck(server, "large", LARGE_SIZE);
    let run = 0;
    const upload = async (connections: number): Promise<number> => {
      const name = `run-${run++}-{t}`;
      const sent = { origin: server.origin, method: "POST", target: target.file(name) } as const;
      const { megabytesPerSecond } = await load(scope, {
        ...sent,
        body: LARGE_SIZE,
        connections,
        seconds: 2,
      });
      return megabytesPerSecond;
    };
    const put = await chunksLimit(scope, data);
    return {
      work: async () => [await upload(1), await upload(4)],
      limit: async () => {
        const figure = await put();
        return [figure, figure];
      },
    };
  },
};

function row(name: string, required: number): Experiment["rows"][number] {
  return { name, unit: "MB/s", bound: "at least", required };
}

const PART_SIZE = 10 * 2 ** 20;
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
        size: PART_SIZE,
        atOnce: AT_ONCE,
      };
      return [parts * PART_SIZE / 1e6 / await runScript<number>(scope, "process_parts.ts", input)];
    };
    return { work: measure("parts"), limit: measure("files") };
  },
};
