import { delay } from "@std/async/delay";
import type { Experiment, Measure, Stage } from "../experiment.ts";
import type { Load } from "../load.ts";
import { assert, type Checkout, inDrive, Server, target } from "../server.ts";
import { DRIVES } from "../stock.ts";

/** Names that one request looks at, at most. */
const MAX_SEARCHED = 100_000;

const PAGE = 1000;
const SMALL = 4096;

/** Milliseconds until the searches are under way. */
const RUN_UP = 200;

interface Found {
  names: string[];
  paging?: { size: number; last: string };
}

const NOTHING = inDrive(DRIVES.large, "/files?contains=nothing");

/** A search that finds nothing, beside the rate at which the same names are listed. */
export const search: Experiment = {
  rows: [{
    name: "search a large drive for a name that is not there",
    unit: "names/s",
    bound: "at least",
    required: 1,
  }],
  async prepare(stage, checkout) {
    const server = await startStocked(stage, checkout);
    const searched = Math.min(stage.stock.files, MAX_SEARCHED);
    const { names, paging } = await server.callJson<Found>(200, "GET", NOTHING);
    assert(names.length === 0, `The search found ${names.length} names`);
    assert((paging !== undefined) === stage.stock.files > searched, "The search ended elsewhere");
    const page = inDrive(DRIVES.large, `/files?limit=${PAGE}`);
    return {
      work: rateOf(stage, server, NOTHING, searched),
      limit: rateOf(stage, server, page, PAGE),
    };
  },
};

/** How much longer small downloads take while names are searched. */
export const besideSearch: Experiment = {
  rows: [{
    name: "download 4 KiB beside a search, median",
    unit: "ms",
    bound: "at most",
    required: 2,
  }],
  async prepare(stage, checkout) {
    const { load, scope } = stage;
    const server = await startStocked(stage, checkout);
    await server.call(201, "POST", target.file("small"), new Uint8Array(SMALL));
    const { origin } = server;
    const downloads: Load = {
      origin,
      method: "GET",
      target: target.download("small"),
      connections: 32,
      seconds: 1,
    };
    const searches: Load = { origin, method: "GET", target: NOTHING, connections: 1, seconds: 2 };
    const alone: Measure = async () => [(await load(scope, downloads)).median];
    const beside: Measure = async () => {
      const searching = load(scope, searches);
      await delay(RUN_UP);
      const [figures] = await Promise.all([alone(), searching]);
      return figures;
    };
    return { work: beside, limit: alone };
  },
};

async function startStocked({ scope, stock }: Stage, checkout: Checkout): Promise<Server> {
  return await Server.start(scope, checkout, await stock.folder(checkout));
}

/** The names that one request after another looks at in a second. */
function rateOf(
  { scope, load }: Stage,
  { origin }: Server,
  path: string,
  names: number,
): Measure {
  const sent: Load = { origin, method: "GET", target: path, connections: 1, seconds: 1 };
  return async () => [names * 1000 / (await load(scope, sent)).median];
}
