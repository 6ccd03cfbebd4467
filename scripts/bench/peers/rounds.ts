import type { Scope } from "../scope.ts";
import { runPeerLoad } from "./load.ts";
import type { Peer } from "./peer.ts";
import { flushDisk } from "./process.ts";
import { runLoad } from "./s3_load.ts";
import type { ProxyServer } from "./servers/proxies.ts";
import { storeObjects } from "./servers/s3_bucket.ts";
import { PROXY_LOAD, PROXY_ROW, type StoreRow } from "./rows.ts";
import { FREE_NUMBERS, type Stored, storeFiles } from "./stored.ts";

/** Keeps a figure of a row. */
export type Note = (row: string, figure: number) => void;

/** A server in the rounds. One runs at a time, so that none is slowed by what another does while it has no requests. */
export interface Contender {
  name: string;
  /** Starts it, measures once, and stops it. */
  measure(note: Note): Promise<void>;
}

/** Figures by row and by server. */
export type Figures = Map<string, Map<string, number[]>>;

/** The order of a round: each contender is the first once, in as many rounds as there are contenders. */
export function rotated<T>(contenders: readonly T[], round: number): T[] {
  const first = round % Math.max(contenders.length, 1);
  return [...contenders.slice(first), ...contenders.slice(0, first)];
}

/** Measures all contenders in every round. */
export async function runRounds(
  contenders: readonly Contender[],
  rounds: number,
  progress: (line: string) => void,
): Promise<Figures> {
  const figures: Figures = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const { name, measure } of rotated(contenders, round)) {
      progress(`round ${round + 1} of ${rounds}: ${name}`);
      await measure((row, figure) => addFigure(figures, row, name, figure));
    }
  }
  return figures;
}

/** Adds a figure of a server to a row. */
export function addFigure(figures: Figures, row: string, server: string, figure: number): void {
  const ofRow = figures.get(row) ?? new Map<string, number[]>();
  figures.set(row, ofRow);
  ofRow.set(server, [...ofRow.get(server) ?? [], figure]);
}

/** Stores the files of a peer and checks what it answers. @returns what measures it. */
export async function preparePeer(
  scope: Scope,
  peer: Peer,
  rows: readonly StoreRow[],
): Promise<Contender> {
  const data = await scope.makeFolder();
  const stored = await storeIn(scope, data, peer, rows);
  let numbers = 0;
  return {
    name: peer.name,
    async measure(note) {
      await using own = await scope.nested();
      const server = await peer.start({ scope: own, data, tracer: [] });
      for (const row of rows) {
        const next = () => row.loadOf({ server, stored, from: FREE_NUMBERS * ++numbers });
        const load = next();
        if (load === undefined) continue;
        await flushDisk(own);
        if (row.warmsUp) await runLoad(own, { ...load, seconds: 1 });
        await flushDisk(own);
        note(row.name, row.figureOf(await runLoad(own, next() ?? load)));
      }
      await server.process.stop();
    },
  };
}

async function storeIn(
  parent: Scope,
  data: string,
  peer: Peer,
  rows: readonly StoreRow[],
): Promise<Stored> {
  await using scope = await parent.nested();
  const server = await peer.start({ scope, data, tracer: [] });
  await server.setUp();
  const stored = await storeFiles(server, rows.some(({ needsNames }) => needsNames));
  const needsS3 = rows.some(({ needsS3 }) => needsS3 === true);
  if (needsS3 && server.s3 !== undefined) await storeObjects(server.s3, stored);
  await server.process.stop();
  return stored;
}

/** What measures a reverse proxy. */
export function proxyContender(
  scope: Scope,
  name: string,
  start: (scope: Scope) => Promise<ProxyServer>,
): Contender {
  return {
    name,
    async measure(note) {
      await using own = await scope.nested();
      const { origin, target, headers, stop } = await start(own);
      const load = { origin, read: { targets: [target], headers }, ...PROXY_LOAD };
      await runPeerLoad(own, load);
      const { requests, seconds } = await runPeerLoad(own, load);
      note(PROXY_ROW.name, requests / seconds);
      await stop();
    },
  };
}
