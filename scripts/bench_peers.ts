/**
 * Measures kvdrive beside other servers, with the same load in the same run: `deno task bench:peers --help`.
 *
 * @module
 */

import { percentile } from "./bench/experiment.ts";
import { serveApplication } from "./bench/limits.ts";
import { runLoad } from "./bench/load.ts";
import type { Peer } from "./bench/peers/peer.ts";
import {
  figureOf,
  freeNumbers,
  type PeerRow,
  PROXY_LOAD,
  PROXY_ROW,
  STORE_ROWS,
  type StoreRow,
  SYNC_ROWS,
} from "./bench/peers/rows.ts";
import { dufs, nginxStatic, rclone } from "./bench/peers/servers/folder_servers.ts";
import { kvdrive, kvdriveWebdav } from "./bench/peers/servers/kvdrive.ts";
import { minio } from "./bench/peers/servers/minio.ts";
import { pocketbase } from "./bench/peers/servers/pocketbase.ts";
import {
  caddy,
  checkProxy,
  gateOf,
  nginxProxy,
  type Proxy,
} from "./bench/peers/servers/proxies.ts";
import { storeFiles, storeObjects } from "./bench/peers/stored.ts";
import { canTrace, measureSyncs } from "./bench/peers/syncs.ts";
import { machineLine, rounded } from "./bench/report.ts";
import { findProgram, runToEnd, Scope } from "./bench/scope.ts";
import { checkoutsOf } from "./bench/server.ts";
import { print, readOptions } from "./package/command_line.ts";

/** The servers that are compared with kvdrive, in the order of the columns. */
const PEERS: readonly Peer[] = [minio, rclone, dufs, pocketbase, nginxStatic];
const PROXIES: readonly Proxy[] = [nginxProxy, caddy];
const PROGRAMS = [...new Set([...PEERS, ...PROXIES].map(({ program }) => program))];
const ROWS: readonly PeerRow[] = [...STORE_ROWS, PROXY_ROW, ...SYNC_ROWS];

const HELP = `Usage: deno task bench:peers [OPTIONS]

Measures kvdrive beside other servers that are in the PATH, and prints a table in Markdown. Missing servers are left out.
Needs wrk; strace to count syncs; up to 10 GB in the temporary folder and about 11 minutes.

  --only ROW      run the rows whose name contains ROW
  --peers NAMES   compare only with these servers, separated by commas: ${PROGRAMS.join(",")}
  --rounds N      how often each figure is measured, from 1 to 50 (3)
  -h, --help      print this
`;

const OPTIONS = {
  only: { type: "string", default: "" },
  peers: { type: "string", default: PROGRAMS.join(",") },
  rounds: { type: "string", default: "3" },
  help: { type: "boolean", short: "h", default: false },
} as const;

async function main(args: string[]): Promise<number> {
  const options = readOptions(args, OPTIONS, HELP, ({ rounds, peers, only }) => {
    if (!/^([1-9]|[1-4]\d|50)$/.test(rounds)) {
      return `Bad value "${rounds}" of --rounds: it must be a number from 1 to 50`;
    }
    const unknown = peers.split(",").find((name) => !PROGRAMS.includes(name));
    if (unknown !== undefined) {
      return `Bad value "${unknown}" of --peers: it must be one of ${PROGRAMS.join(", ")}`;
    }
    return ROWS.some(({ name }) => name.includes(only))
      ? undefined
      : `No row has a name that contains ${JSON.stringify(only)}`;
  });
  if (typeof options === "number") return options;
  if (await findProgram("wrk") === undefined) {
    print("wrk is not installed; it sends the load\n");
    return 2;
  }
  await using scope = await Scope.open();
  const installed = new Set<string>();
  for (const program of options.peers.split(",")) {
    if (await findProgram(program) === undefined) print(`${program} is not in the PATH\n`);
    else installed.add(program);
  }
  const isWanted = ({ name }: { name: string }) => name.includes(options.only);
  await new Comparison(scope, isWanted).run(installed, Number(options.rounds));
  return 0;
}

/** A server in the rounds. One runs at a time, so that none is slowed by what another does without requests. */
interface Contender {
  name: string;
  /** Starts it, measures once, and stops it. */
  measure(): Promise<void>;
}

/** Measures servers with the rows that are wanted, and compares them. */
class Comparison {
  /** By row and by server. */
  readonly #figures = new Map<string, Map<string, number[]>>();

  constructor(
    private readonly scope: Scope,
    private readonly isWanted: (row: PeerRow) => boolean,
  ) {}

  async run(installed: ReadonlySet<string>, rounds: number): Promise<void> {
    const isInstalled = ({ program }: { program: string }) => installed.has(program);
    const peers = [kvdrive, kvdriveWebdav, ...PEERS.filter(isInstalled)];
    const proxies = PROXIES.filter(isInstalled);
    const contenders: Contender[] = [];
    const rows = STORE_ROWS.filter(this.isWanted);
    for (const peer of rows.length === 0 ? [] : peers) {
      contenders.push(await this.#prepare(peer, rows));
    }
    if (this.isWanted(PROXY_ROW)) contenders.push(...await this.#proxies(proxies));
    for (let round = 0; round < rounds; round++) {
      // Each contender is the first in turn.
      const first = round % contenders.length;
      for (
        const { name, measure } of [...contenders, ...contenders].slice(first).slice(
          0,
          contenders.length,
        )
      ) {
        progress(`round ${round + 1} of ${rounds}: ${name}`);
        await measure();
      }
    }
    if (SYNC_ROWS.some(this.isWanted)) await this.#countSyncs(peers);
    print(`${await machineLine()}; load by wrk; medians (lowest to highest) of ${rounds} rounds\n`);
    const programs = new Map([...proxies, ...peers].map((peer) => [peer.program, peer]));
    for (const { name, program, version } of programs.values()) {
      const path = await findProgram(program) ?? program;
      const { stdout, stderr } = await new Deno.Command(path, { args: [...version] }).output();
      const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      print(`${name}: ${text.split("\n")[0]}\n`);
    }
    print(`\n${this.#table([...new Set([...peers, ...proxies].map(({ name }) => name))])}`);
  }

  /** Stores the files of a peer and checks what it answers. */
  async #prepare(peer: Peer, rows: readonly StoreRow[]): Promise<Contender> {
    progress(`storing and checking files: ${peer.name}`);
    const data = await this.scope.makeFolder();
    const server = await peer.start({ scope: this.scope, data, tracer: [] });
    await server.setUp();
    const stored = await storeFiles(
      server,
      rows.length > 1 || rows[0]?.name.includes("names") === true,
    );
    if (server.s3 !== undefined && rows.some(({ name }) => name.startsWith("S3"))) {
      await storeObjects(server.s3, stored);
    }
    await server.process.stop();
    const from = freeNumbers();
    const measure = async (): Promise<void> => {
      await using scope = await this.scope.nested();
      const server = await peer.start({ scope, data, tracer: [] });
      for (const row of rows) {
        for (const isMeasured of [false, true]) {
          const load = row.loadOf({ server, stored, from: from() });
          if (load === undefined) continue;
          // No server pays for the uploads of another.
          await runToEnd(scope, "sync", {});
          // In one second a slow disk finishes no large upload.
          const seconds = isMeasured ? load.seconds : Math.ceil(load.seconds / 2);
          const result = await runLoad(scope, { ...load, seconds });
          if (isMeasured) this.#note(row, peer.name, figureOf(row, result));
        }
      }
      await server.process.stop();
    };
    return { name: peer.name, measure };
  }

  /** The gate and other proxies, in front of one application. */
  async #proxies(proxies: readonly Proxy[]): Promise<Contender[]> {
    const upstream = serveApplication(this.scope);
    const { current } = await checkoutsOf(this.scope, undefined);
    return [gateOf(current), ...proxies].map(({ name, start }) => ({
      name,
      measure: async () => {
        await using scope = await this.scope.nested();
        const proxy = await start(scope, upstream);
        await checkProxy(proxy);
        const load = { ...proxy, ...PROXY_LOAD };
        await runLoad(scope, load);
        this.#note(PROXY_ROW, name, (await runLoad(scope, load)).perSecond);
        await proxy.stop();
      },
    }));
  }

  async #countSyncs(peers: readonly Peer[]): Promise<void> {
    if (!await canTrace()) {
      return progress("syncs are not counted: strace is missing or may not trace");
    }
    for (const peer of peers) {
      if (peer === nginxStatic) continue;
      progress(`counting syncs: ${peer.name}`);
      for (const [index, count] of (await measureSyncs(this.scope, peer)).entries()) {
        const row = SYNC_ROWS[index];
        if (row !== undefined && this.isWanted(row)) this.#note(row, peer.name, count);
      }
    }
  }

  #note({ name }: PeerRow, server: string, figure: number): void {
    const ofRow = this.#figures.get(name) ?? new Map<string, number[]>();
    this.#figures.set(name, ofRow);
    ofRow.set(server, [...ofRow.get(server) ?? [], figure]);
  }

  /** A table in Markdown: the median of each server, the spread, and kvdrive's median divided by it. */
  #table(servers: readonly string[]): string {
    const lines = [["work", ...servers], ["---", ...servers.map(() => "---:")]];
    for (const row of ROWS) {
      const ofRow = this.#figures.get(row.name);
      if (ofRow === undefined) continue;
      const own = ofRow.get(kvdrive.name);
      const cells = servers.map((server) => cellOf(row, own, ofRow.get(server), server));
      lines.push([`${row.name}, ${row.unit}`, ...cells]);
    }
    return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
  }
}

function cellOf(
  { unit }: PeerRow,
  own: readonly number[] | undefined,
  figures: readonly number[] = [],
  server: string,
): string {
  if (figures.length === 0) return "";
  const median = percentile(figures, 50);
  const spread = `${rounded(Math.min(...figures))} to ${rounded(Math.max(...figures))}`;
  const range = figures.length === 1 ? "" : ` (${spread})`;
  const isCompared = own !== undefined && server !== kvdrive.name && unit !== "per write";
  return `${rounded(median)}${range}${
    isCompared ? `, ${(percentile(own, 50) / median).toFixed(2)}×` : ""
  }`;
}

/** Prints on standard error how far the run is, so that the table can be redirected. */
function progress(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
