import { storeAndCheck } from "./checks.ts";
import type { Experiment, Measure, Stage } from "./experiment.ts";
import { smallFilesLimit } from "./kv_limit.ts";
import { Server, target } from "./server.ts";

const SIZE = 4096;
const CONNECTIONS = 64;
const OVERWRITTEN = 100;

/** Small uploads to names that nobody used, beside the same records put straight into the store. */
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

async function startServer(
  { scope }: Stage,
  checkout: Parameters<Experiment["prepare"]>[1],
): Promise<Server> {
  const server = await Server.start(scope, checkout);
  await storeAndCheck(server, "small", SIZE);
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
      body: SIZE,
      connections: CONNECTIONS,
      seconds: 1,
    });
    return [perSecond];
  };
}
