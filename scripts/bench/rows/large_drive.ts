import type { Experiment, Measure, Stage } from "../experiment.ts";
import { FIRST, NAME_PATTERN, nameOf, rawSize } from "../process_stock.ts";
import { assert, databaseOf, inDrive, Server } from "../server.ts";
import { DRIVES, Stock, STOCK_SIZE } from "../stock.ts";

const CONNECTIONS = 32;

/** Files of the drive that the large one is compared with. */
const FEW = 100_000;

/** Downloads of tiny files far apart in a drive of very many, beside a drive of fewer, which no cache can hold either. */
export const lookups: Experiment = {
  onlyFull: true,
  rows: [{
    name: "download 4 bytes, names all over a large drive",
    unit: "req/s",
    bound: "at least",
    required: 0.7,
  }],
  async prepare(stage, checkout) {
    const fewer = new Stock(stage.scope, FEW);
    const many = await Server.start(stage.scope, checkout, await stage.stock.folder(checkout));
    const few = await Server.start(stage.scope, checkout, await fewer.folder(checkout));
    return {
      work: await lookUp(stage, many, stage.stock.files),
      limit: await lookUp(stage, few, FEW),
    };
  },
};

async function lookUp({ scope, load }: Stage, server: Server, files: number): Promise<Measure> {
  const path = (name: string): string => inDrive(DRIVES.large, `/files/download?name=${name}`);
  const last = await server.call(200, "GET", path(nameOf(FIRST + files - 1)));
  assert(last.byteLength === STOCK_SIZE, `the last file has ${last.byteLength} bytes`);
  const sent = {
    origin: server.origin,
    method: "GET",
    target: path(NAME_PATTERN),
    first: FIRST,
    cycle: files,
    isScattered: true,
    connections: CONNECTIONS,
    seconds: 1,
  } as const;
  return async () => {
    // A commit empties the cache of small files, which would hold more of a drive that has fewer.
    await server.call(201, "POST", inDrive(DRIVES.tiny, "/files?name=file-0"), "new");
    return [(await load(scope, sent)).perSecond];
  };
}

/** The bytes of the store's file for each tiny file, beside what its name, record and content have. */
export const sizeOnDisk: Experiment = {
  rows: [{
    name: "size on disk of a file of 4 bytes",
    unit: "bytes",
    bound: "at most",
    required: 2.5,
  }],
  async prepare({ stock }, checkout) {
    const path = databaseOf(await stock.folder(checkout));
    return {
      work: async () => [(await Deno.stat(path)).size / stock.files],
      limit: () => Promise.resolve([rawSize(path)]),
    };
  },
};
