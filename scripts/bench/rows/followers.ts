import { deadline } from "@std/async/deadline";
import { type Experiment, type Measure, percentile, type Stage } from "../experiment.ts";
import { inDrive, PROJECT_KEY, Server, storeAndCheck, target } from "../server.ts";

const SIZE = 4096;
const WRITERS = 8;
const FOLLOWERS = 256;
const CHANGE_DAYS = 7;

/** Small uploads while as many callers as may be follow the drive, beside those without followers. */
export const followers: Experiment = {
  rows: [{
    name: "upload 4 KiB, 8 connections, 256 followers",
    unit: "req/s",
    bound: "at least",
    required: 0.2,
  }],
  async prepare(stage, checkout) {
    const servers: Server[] = [];
    for (let i = 0; i < 2; i++) {
      const server = await Server.startWithAdministrator(stage.scope, checkout);
      await storeAndCheck(server, "small", SIZE);
      await server.keepChanges(CHANGE_DAYS);
      servers.push(server);
    }
    const [followed, alone] = servers as [Server, Server];
    await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(followed)));
    return { work: uploads(stage, followed), limit: uploads(stage, alone) };
  },
};

/** Uploads whose deliveries are timed in one round, one after the other. */
const DELIVERIES = 100;

/** The most that a delivery may take, in milliseconds, before the measurement fails. */
const DELIVERY_TIMEOUT = 5000;

/** How long a webhook's receiver waits for a change, from its commit on; compared with a request to that receiver. */
export const deliveries: Experiment = {
  rows: [
    { name: "webhook, commit to receiver, median", unit: "ms", bound: "at most", required: 40 },
    { name: "webhook, commit to receiver, 99%", unit: "ms", bound: "at most", required: 40 },
  ],
  async prepare({ scope }, checkout) {
    const server = await Server.startWithAdministrator(scope, checkout);
    await storeAndCheck(server, "small", SIZE);
    await server.keepChanges(CHANGE_DAYS);
    const waiting = new Map<string, (at: number) => void>();
    const receiver = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        const at = performance.now();
        const { changes } = await request.json() as { changes: { name: string }[] };
        for (const { name } of changes) waiting.get(name)?.(at);
        return new Response(null, { status: 204 });
      },
    );
    scope.onClose(() => receiver.shutdown());
    const url = `http://127.0.0.1:${receiver.addr.port}/`;
    await server.addWebhook(url);
    let count = 0;
    const deliver = async () => {
      const name = `hook-${count++}`;
      const { promise, resolve } = Promise.withResolvers<number>();
      waiting.set(name, resolve);
      const headers = { "X-Api-Key": PROJECT_KEY };
      const path = server.origin + inDrive("files", `/files?name=${name}`);
      const answer = await fetch(path, { method: "POST", headers, body: "abc" });
      await answer.body?.cancel();
      const committed = performance.now();
      const arrived = await deadline(promise, DELIVERY_TIMEOUT);
      waiting.delete(name);
      return Math.max(0, arrived - committed);
    };
    const request = async () => {
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

function uploads({ scope, load }: Stage, { origin }: Server): Measure {
  let run = 0;
  return async () => {
    const { perSecond } = await load(scope, {
      origin,
      method: "POST",
      target: target.file(`run-${run++}-{n}`),
      body: SIZE,
      connections: WRITERS,
      seconds: 1,
    });
    return [perSecond];
  };
}
