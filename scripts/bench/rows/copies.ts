import type { Experiment, Measure } from "../experiment.ts";
import { assert, type Checkout, databaseOf, inDrive, randomBytes, Server } from "../server.ts";
import type { Stage } from "../experiment.ts";

/** A file of 5 GB, whose parts all have the bytes of the one that was sent. */
const PARTS = 1000;
const PART_SIZE = 5_000_000;

const SMALL = 4096;

/** Calls in a row, of which the mean counts. */
const CALLS = 50;

/** Files that one call moves, and the time that it may take, in milliseconds. */
const MOVED = 1000;
const MOVE_LIMIT = 250;

/** Files that are stored at the same time. */
const TOGETHER = 50;

/** How long a copy and a move of a large file take, beside the upload of a small one. */
export const copyLarge: Experiment = {
  rows: [
    { name: "copy a file of 5 GB", unit: "ms", bound: "at most", required: 2 },
    { name: "move a file of 5 GB", unit: "ms", bound: "at most", required: 2 },
  ],
  async prepare(stage, checkout) {
    const server = await startWithLargeFile(stage, checkout);
    let copies = 0;
    const copy = () => ask(server, 201, "copy", { from: "large", to: `copy-${copies++}` });
    let moves = 0;
    const move = () => ask(server, 200, "move", { from: `copy-${moves}`, to: `moved-${moves++}` });
    let puts = 0;
    const bytes = randomBytes(SMALL);
    const put = async () => {
      await server.call(201, "POST", inDrive("copies", `/files?name=small-${puts++}`), bytes);
    };
    return {
      work: async () => [await meanOf(copy), await meanOf(move)],
      limit: async () => {
        const took = await meanOf(put);
        return [took, took];
      },
    };
  },
};

/** How long one call takes that moves many files. */
export const moveMany: Experiment = {
  rows: [{ name: `move ${MOVED} files in one call`, unit: "ms", bound: "at most", required: 1 }],
  async prepare({ scope }, checkout) {
    const server = await Server.start(scope, checkout);
    const bytes = randomBytes(SMALL);
    for (let from = 0; from < MOVED; from += TOGETHER) {
      const numbers = Array.from({ length: TOGETHER }, (_, i) => from + i);
      await Promise.all(
        numbers.map((n) =>
          server.call(201, "POST", inDrive("copies", `/files?name=0-${n}`), bytes)
        ),
      );
    }
    let round = 0;
    const work: Measure = async () => {
      const items = Array.from(
        { length: MOVED },
        (_, n) => ({ from: `${round}-${n}`, to: `${round + 1}-${n}` }),
      );
      round++;
      const started = performance.now();
      const { done } = await ask<{ done: string[] }>(server, 200, "move", { items });
      const took = performance.now() - started;
      assert(done.length === MOVED, `${done.length} files were moved`);
      return [took];
    };
    return { work, limit: () => Promise.resolve([MOVE_LIMIT]) };
  },
};

async function ask<T>(
  server: Server,
  status: number,
  kind: "copy" | "move",
  body: unknown,
): Promise<T> {
  const path = inDrive("copies", `/files/${kind}`);
  const answer = await server.call(status, "POST", path, JSON.stringify(body));
  return JSON.parse(new TextDecoder().decode(answer));
}

/** The mean time of calls that follow each other, in milliseconds. */
async function meanOf(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < CALLS; i++) await call();
  return (performance.now() - started) / CALLS;
}

/** Starts a server with a file of 5 GB. Its parts are copied directly in the store, because the server would need all bytes. */
async function startWithLargeFile({ scope }: Stage, checkout: Checkout): Promise<Server> {
  const data = await scope.makeFolder();
  const first = await Server.start(scope, checkout, data);
  const uploads = inDrive("copies", "/uploads");
  const { upload_id } = await first.callJson<{ upload_id: string }>(
    202,
    "POST",
    `${uploads}?name=large`,
  );
  const upload = `${uploads}/${upload_id}`;
  await first.call(200, "POST", `${upload}/parts?name=large&part=1`, randomBytes(PART_SIZE));
  await first.stop();
  using kv = await Deno.openKv(databaseOf(data));
  const [part] = await Array.fromAsync(kv.list({ prefix: ["part"] }));
  assert(part !== undefined, "the part is not in the store");
  for (let from = 2; from <= PARTS; from += 500) {
    const operation = kv.atomic();
    for (let n = from; n < from + 500 && n <= PARTS; n++) {
      operation.set(part.key.with(-1, n), part.value);
    }
    await operation.commit();
  }
  kv.close();
  const server = await Server.start(scope, checkout, data);
  await server.call(200, "PATCH", `${upload}?name=large`);
  return server;
}
