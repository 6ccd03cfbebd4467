import { deadline } from "@std/async/deadline";
import { type Experiment, figureOf, type Measure, percentile, type Stage } from "../experiment.ts";
import { serveHere } from "../limits.ts";
import { type Checkout, inDrive, PROJECT_KEY, Server, storeAndCheck, target } from "../server.ts";

const SIZE = 4096;
const FOLLOWERS = 256;

/** Small uploads to a drive that keeps changes, compared with those to one that keeps none. */
export const feed: Experiment = {
  rows: [{
    name: "upload 4 KiB, 8 connections, with the feed of changes",
    unit: "req/s",
    bound: "at least",
    required: 0.85,
  }],
  async prepare(stage, checkout) {
    const [on, off] = [await start(stage.scope, checkout), await start(stage.scope, checkout, 0)];
    return { work: uploads(stage, on), limit: uploads(stage, off) };
  },
};

/** Small uploads while as many callers as allowed follow the drive, compared with those without followers. */
export const followers: Experiment = {
  rows: [{
    name: "upload 4 KiB, 8 connections, 256 followers",
    unit: "req/s",
    bound: "at least",
    required: 0.2,
  }],
  async prepare(stage, checkout) {
    const [followed, alone] = [
      await start(stage.scope, checkout),
      await start(stage.scope, checkout),
    ];
    await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(followed)));
    return { work: uploads(stage, followed), limit: uploads(stage, alone) };
  },
};

function uploads(stage: Stage, { origin }: Server): Measure {
  return figureOf(stage, "perSecond", (run) => {
    const path = target.file(`run-${run}-{n}`);
    const load = { origin, method: "POST", target: path, body: SIZE } as const;
    return { ...load, connections: 8, seconds: 1 };
  });
}

/** Uploads whose deliveries are timed in one round, one after the other. */
const DELIVERIES = 100;

/** The most that a delivery may take, in milliseconds, before the measurement fails. */
const DELIVERY_TIMEOUT = 5000;

/** The time from a commit until a webhook's receiver is told, compared with a request to that receiver. */
export const deliveries: Experiment = {
  rows: ["median", "99%"].map((name) => {
    return {
      name: `webhook, commit to receiver, ${name}`,
      unit: "ms",
      bound: "at most",
      required: 40,
    };
  }),
  async prepare({ scope }, checkout) {
    const server = await start(scope, checkout);
    const waiting = new Map<string, (at: number) => void>();
    const url = serveHere(scope, async (request) => {
      const at = performance.now();
      const { changes } = await request.json() as { changes: { name: string }[] };
      for (const { name } of changes) waiting.get(name)?.(at);
      return new Response(null, { status: 204 });
    });
    await server.administer(201, "POST", "/webhooks", { name: "bench", url });
    let count = 0;
    const deliver = async (): Promise<number> => {
      const name = `hook-${count++}`;
      const { promise, resolve } = Promise.withResolvers<number>();
      waiting.set(name, resolve);
      await server.call(201, "POST", target.file(name), "abc");
      const committed = performance.now();
      return Math.max(0, await deadline(promise, DELIVERY_TIMEOUT) - committed);
    };
    const request = async (): Promise<number> => {
      const began = performance.now();
      const answer = await fetch(url, { method: "POST", body: '{"changes":[]}' });
      await answer.body?.cancel();
      return performance.now() - began;
    };
    return { work: timesOf(deliver), limit: timesOf(request) };
  },
};

/** Measures the median and the 99th percentile. */
function timesOf(once: () => Promise<number>): Measure {
  return async () => {
    const times: number[] = [];
    for (let i = 0; i < DELIVERIES; i++) times.push(await once());
    return [percentile(times, 50), percentile(times, 99)];
  };
}

/** Starts a server that keeps changes for some days. */
async function start(
  scope: Parameters<typeof Server.start>[0],
  checkout: Checkout,
  days = 7,
): Promise<Server> {
  const server = await Server.start(scope, checkout);
  await storeAndCheck(server, "small", SIZE);
  await server.administer(200, "PATCH", "", { change_days: days });
  return server;
}

/** Follows a drive until its server ends. */
async function follow({ origin }: Server): Promise<void> {
  const { body } = await fetch(origin + inDrive("files", "/changes"), {
    headers: { "X-Api-Key": PROJECT_KEY, "Accept": "text/event-stream" },
  });
  const read = async () => {
    for await (const _ of body ?? []);
  };
  // The end of the server may break the stream.
  read().catch(() => {});
}
