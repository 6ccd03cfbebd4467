import { type Experiment, ROUNDS, type Stage } from "../experiment.ts";
import { assert, type Checkout, databaseOf, inDrive, randomBytes, Server } from "../server.ts";

const PARTS = 10_000;

/** The least that a part has to have. */
const SIZE = 5_000_000;

/** Uploads that are ready to be completed: one for each round, and one to warm up. */
const UPLOADS = ROUNDS + 1;

/** Entries put into the store at once. */
const TOGETHER = 500;

/** Milliseconds. */
const LIMIT = 1000;

interface Upload {
  upload_id: string;
}

/** Completing an upload of as many parts as there may be. They all have the bytes of the one that was sent. */
export const completeUpload: Experiment = {
  rows: [{
    name: "completing 10,000 parts",
    unit: "ms",
    bound: "at most",
    required: 1,
  }],
  async prepare(stage, checkout) {
    const data = await stage.scope.makeFolder();
    const ids = await startUploads(stage, checkout, data);
    await multiplyParts(data);
    const server = await Server.start(stage.scope, checkout, data);
    const work = async (): Promise<number[]> => {
      const id = ids.shift();
      assert(id !== undefined, "there are too few uploads");
      const started = performance.now();
      await server.call(200, "PATCH", inDrive("parts", `/uploads/${id}?name=${ids.length}`));
      const took = performance.now() - started;
      await check(server, String(ids.length));
      return [took];
    };
    return { work, limit: () => Promise.resolve([LIMIT]) };
  },
};

/** Starts uploads of files whose names are the numbers from the last down to 0, with one part each. */
async function startUploads(
  { scope }: Stage,
  checkout: Checkout,
  data: string,
): Promise<string[]> {
  const server = await Server.start(scope, checkout, data);
  const bytes = randomBytes(SIZE);
  const ids: string[] = [];
  for (let name = UPLOADS - 1; name >= 0; name--) {
    const path = inDrive("parts", `/uploads?name=${name}`);
    const { upload_id } = await server.callJson<Upload>(202, "POST", path);
    const part = `/uploads/${upload_id}/parts?name=${name}&part=1`;
    await server.call(200, "POST", inDrive("parts", part), bytes);
    ids.push(upload_id);
  }
  await server.stop();
  return ids;
}

/** Copies the entry of each upload's first part 10,000 times, directly in the store, because the server would need all the bytes. */
async function multiplyParts(data: string): Promise<void> {
  using kv = await Deno.openKv(databaseOf(data));
  const firsts = await Array.fromAsync(kv.list({ prefix: ["part"] }));
  assert(firsts.length === UPLOADS, `${firsts.length} parts are in the store`);
  for (const { key, value } of firsts) {
    for (let from = 2; from <= PARTS; from += TOGETHER) {
      const operation = kv.atomic();
      for (let part = from; part < from + TOGETHER && part <= PARTS; part++) {
        operation.set(key.with(-1, part), value);
      }
      await operation.commit();
    }
  }
}

/** @throws unless the file has the bytes of all parts. */
async function check(server: Server, name: string): Promise<void> {
  const { files } = await server.callJson<{ files: { name: string; size: number }[] }>(
    200,
    "GET",
    inDrive("parts", "/files?details=true"),
  );
  const size = files.find((file) => file.name === name)?.size;
  assert(size === PARTS * SIZE, `the file has ${size} bytes`);
}
