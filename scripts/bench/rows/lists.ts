import type { Experiment, Stage } from "../experiment.ts";
import { FIRST, nameOf } from "../process_stock.ts";
import { assert, type Checkout, inDrive, Server } from "../server.ts";
import { DRIVES, TINY_DRIVE } from "../stock.ts";

const PAGE = 1000;

/** How much longer a page may take with details. */
const DETAILS = 2;

interface Listing {
  names: string[];
  files?: { name: string }[];
  paging?: { size: number; last: string };
}

/** The first and the last page of a large drive, beside that of a drive which has one page. */
export const listLarge: Experiment = {
  rows: [
    row("list 1000 names of a large drive, first page", 1.5),
    row("list 1000 names of a large drive, last page", 1.5),
  ],
  async prepare(stage, checkout) {
    const server = await startStocked(stage, checkout);
    const query = `/files?limit=${PAGE}`;
    const first = await page(stage, server, inDrive(DRIVES.large, query), true);
    const before = nameBeforeLastPage(stage);
    const last = await page(stage, server, inDrive(DRIVES.large, `${query}&last=${before}`), false);
    const only = await page(stage, server, inDrive(DRIVES.small, query), false);
    return {
      work: async () => [await first(), await last()],
      limit: async () => {
        const time = await only();
        return [time, time];
      },
    };
  },
};

/** A page of a large drive with the details of its files, beside the same page without them. */
export const listDetails: Experiment = {
  rows: [row("list 1000 names of a large drive, with details", DETAILS)],
  async prepare(stage, checkout) {
    const server = await startStocked(stage, checkout);
    const path = inDrive(DRIVES.large, `/files?limit=${PAGE}`);
    const detailed = `${path}&details=true`;
    const { names, files = [] } = await list(server, detailed);
    const listed = files.map(({ name }) => name);
    assert(listed.length === PAGE && listed.join() === names.join(), `${detailed} lists others`);
    const plain = await page(stage, server, path, true);
    const withDetails = timeOf(stage, server, detailed);
    return { work: async () => [await withDetails()], limit: async () => [await plain()] };
  },
};

/** The ten directories of a large drive, beside ten files. */
export const listDirectories: Experiment = {
  rows: [row("recursive=false over a large drive, 10 directories", 3)],
  async prepare(stage, checkout) {
    const server = await startStocked(stage, checkout);
    const query = "/files?recursive=false";
    const large = await list(server, inDrive(DRIVES.large, query));
    assert(large.names.join() === directories().join(), `The directories are ${large.names}`);
    const tiny = await list(server, inDrive(DRIVES.tiny, query));
    assert(tiny.names.length === TINY_DRIVE, `${tiny.names.length} names of ${TINY_DRIVE}`);
    const time = (drive: string) => timeOf(stage, server, inDrive(drive, query));
    const [ofLarge, ofTiny] = [time(DRIVES.large), time(DRIVES.tiny)];
    return { work: async () => [await ofLarge()], limit: async () => [await ofTiny()] };
  },
};

function row(name: string, required: number): Experiment["rows"][number] {
  return { name, unit: "ms", bound: "at most", required };
}

/** Checks a page of a listing. @returns a function that measures it. */
async function page(
  stage: Stage,
  server: Server,
  path: string,
  hasNext: boolean,
): Promise<() => Promise<number>> {
  const { names, paging } = await list(server, path);
  assert(names.length === PAGE, `${path} lists ${names.length} names, not ${PAGE}`);
  assert((paging !== undefined) === hasNext, `${path} ends with ${paging?.last ?? "nothing"}`);
  return timeOf(stage, server, path);
}

async function startStocked({ scope, stock }: Stage, checkout: Checkout): Promise<Server> {
  return await Server.start(scope, checkout, await stock.folder(checkout));
}

async function list(server: Server, path: string): Promise<Listing> {
  return await server.callJson<Listing>(200, "GET", path);
}

/** The median time of a request, sent one after another. */
function timeOf({ scope, load }: Stage, { origin }: Server, path: string): () => Promise<number> {
  const sent = { origin, method: "GET", target: path, connections: 1, seconds: 1 } as const;
  return async () => (await load(scope, sent)).median;
}

function directories(): string[] {
  return Array.from({ length: 10 }, (_, d) => `d${d}/`);
}

/** The name behind which exactly one page is left. */
function nameBeforeLastPage({ stock }: Stage): string {
  // The last directory has every tenth number.
  return nameOf(FIRST + stock.files - 1 - 10 * PAGE);
}
