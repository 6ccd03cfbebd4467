import { type Experiment, figureOf, type Measure, type Stage } from "../experiment.ts";
import { assert, type Checkout, inDrive, Server } from "../server.ts";

const PAGE = 1000;

interface Listing {
  names: string[];
  paging?: { last: string };
}

/** A page of the large drive, or its ten directories, compared with a page of the small drive. */
export const lists: Experiment = {
  rows: [
    row("list 1000 names of a large drive, first page", 1.5),
    row("list 1000 names of a large drive, last page", 1.5),
    row("list 1000 names of a large drive, with details", 2),
    row("recursive=false over a large drive, 10 directories", 1),
  ],
  async prepare(stage, checkout) {
    const server = await stage.stock.start(stage.scope, checkout);
    const names = stage.stock.names.sort();
    const page = `/files?limit=${PAGE}`;
    const pages = [
      { path: inDrive("large", page), first: names[0] },
      { path: inDrive("large", `${page}&last=${names.at(-PAGE - 1)}`), first: names.at(-PAGE) },
      { path: inDrive("large", `${page}&details=true`), first: names[0] },
      { path: inDrive("large", "/files?recursive=false"), first: "d0/", count: 10 },
      { path: inDrive("small", page), first: "file-0000000000" },
    ];
    const times: Measure[] = [];
    for (const { path, first, count = PAGE } of pages) {
      const found = (await server.callJson<Listing>(200, "GET", path)).names;
      assert(found.length === count && found[0] === first, `${path} has ${found.length} names`);
      const load = { origin: server.origin, method: "GET", target: path, connections: 1 } as const;
      times.push(figureOf(stage, "median", () => ({ ...load, seconds: 1 })));
    }
    const [last, ...work] = times.toReversed();
    return {
      work: async () => {
        const figures: number[] = [];
        for (const time of work.toReversed()) figures.push(...await time());
        return figures;
      },
      limit: async () => {
        const [figure = NaN] = await last?.() ?? [];
        return work.map(() => figure);
      },
    };
  },
};

/** The time from the start of the process to the first answer, with a large drive and with an empty store. */
export const start: Experiment = {
  rows: [row("start to the first answer, with a large drive", 1.5)],
  async prepare(stage, checkout) {
    const { stock, scope } = stage;
    return {
      work: startOn(stage, checkout, await stock.folder(checkout), 1),
      limit: startOn(stage, checkout, await scope.makeFolder(), 0),
    };
  },
};

function startOn({ scope }: Stage, checkout: Checkout, data: string, expected: number): Measure {
  return async () => {
    const server = await Server.start(scope, checkout, data);
    const path = inDrive("large", "/files?limit=1");
    const { names } = await server.callJson<Listing>(200, "GET", path);
    const { age } = server;
    assert(names.length === expected, `${names.length} names are listed`);
    await server.stop();
    return [age];
  };
}

function row(name: string, required: number): Experiment["rows"][number] {
  return { name, unit: "ms", bound: "at most", required };
}
