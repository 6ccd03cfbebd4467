/**
 * Measures kvdrive beside other servers, with the same load in the same run: `deno task bench:peers --help`.
 *
 * @module
 */

import { dufs, nginxStatic, rclone } from "./bench/peers/servers/folder_servers.ts";
import { kvdrive, kvdriveWebdav } from "./bench/peers/servers/kvdrive.ts";
import { minio } from "./bench/peers/servers/minio.ts";
import { namesOf, PEERS_HELP, PEERS_OPTIONS, problemOf } from "./bench/peers/options.ts";
import type { Peer } from "./bench/peers/peer.ts";
import { pocketbase } from "./bench/peers/servers/pocketbase.ts";
import { findProgram } from "./bench/peers/process.ts";
import {
  caddy,
  checkProxy,
  gateOf,
  nginxProxy,
  type Proxy,
  startApplication,
} from "./bench/peers/servers/proxies.ts";
import {
  markdownTable,
  type PeersReport,
  resultsOf,
  sumOf,
  syncLines,
  textTable,
  toJson,
} from "./bench/peers/report.ts";
import {
  addFigure,
  type Contender,
  type Figures,
  preparePeer,
  proxyContender,
  runRounds,
} from "./bench/peers/rounds.ts";
import { PROXY_ROW, STORE_ROWS, SYNC_ROWS } from "./bench/peers/rows.ts";
import { seaweedfs } from "./bench/peers/servers/seaweedfs.ts";
import { canTrace, measureSyncs, type SyncsPerWrite } from "./bench/peers/syncs.ts";
import { tusd } from "./bench/peers/servers/tusd.ts";
import { versionLine } from "./bench/peers/versions.ts";
import { machineLine } from "./bench/report.ts";
import { endOnSignal, Scope } from "./bench/scope.ts";
import { checkoutsOf } from "./bench/server.ts";
import { print, readOptions } from "./package/command_line.ts";

/** The servers that are compared with kvdrive, in the order of the columns. */
const PEERS: readonly Peer[] = [minio, rclone, dufs, tusd, pocketbase, seaweedfs, nginxStatic];
const PROXIES: readonly Proxy[] = [nginxProxy, caddy];
const PROGRAMS = [...new Set([...PEERS, ...PROXIES].map(({ program }) => program))];

/** The columns of the table. */
const COLUMNS = [
  ...new Set([kvdrive, kvdriveWebdav, ...PEERS, ...PROXIES].map(({ name }) => name)),
];

const ROWS = [...STORE_ROWS, PROXY_ROW, ...SYNC_ROWS];

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const problem = (values: Parameters<typeof problemOf>[0]) => problemOf(values, PROGRAMS);
  const options = readOptions(args, PEERS_OPTIONS, PEERS_HELP, problem);
  if (typeof options === "number") return options;
  const isWanted = ({ name }: { name: string }): boolean => name.includes(options.only);
  if (!ROWS.some(isWanted)) {
    print(`No row has a name that contains ${JSON.stringify(options.only)}\n`);
    return 2;
  }
  if (await findProgram("wrk") === undefined) {
    print("wrk is not installed; it sends the load\n");
    return 2;
  }
  await using scope = await Scope.open();
  endOnSignal(scope);
  const chosen = namesOf(options.peers) ?? PROGRAMS;
  const installed = await installedOf(chosen);
  const run = { scope, installed, rounds: Number(options.rounds), isWanted };
  const report = await measureAll(run, chosen.filter((program) => !installed.has(program)));
  printReport(report, options.markdown);
  if (options.json !== undefined) await Deno.writeTextFile(options.json, toJson(report));
  return 0;
}

/** What a run is made of. */
interface Run {
  scope: Scope;
  /** Programs that can be started. */
  installed: ReadonlySet<string>;
  rounds: number;
  isWanted: (row: { name: string }) => boolean;
}

async function installedOf(programs: readonly string[]): Promise<Set<string>> {
  const installed = new Set<string>();
  for (const program of programs) {
    if (await findProgram(program) !== undefined) installed.add(program);
  }
  return installed;
}

async function measureAll(run: Run, notInstalled: readonly string[]): Promise<PeersReport> {
  const { scope, installed, rounds, isWanted } = run;
  const peers = [kvdrive, kvdriveWebdav, ...PEERS.filter(({ program }) => installed.has(program))];
  const proxies = PROXIES.filter(({ program }) => installed.has(program));
  const machine = await machineLine();
  const programs = new Map([...peers, ...proxies].map((program) => [program.name, program]));
  const versions = [];
  for (const program of programs.values()) versions.push(await versionLine(scope, program));
  const contenders = [...await peersOf(run, peers), ...await proxiesOf(run, proxies)];
  const figures = await runRounds(contenders, rounds, progress);
  const missing = notInstalled.map((program) => {
    const names = [...PEERS, ...PROXIES].filter((other) => other.program === program);
    return `${names[0]?.name ?? ""} is left out: there is no ${program} in the PATH`;
  });
  const syncs = new Map<string, readonly SyncsPerWrite[]>();
  if (SYNC_ROWS.some(isWanted)) {
    if (await canTrace(scope)) await addSyncs(scope, peers, figures, syncs);
    else missing.push("syncs are not counted: strace is not installed, or may not trace");
  }
  const results = resultsOf(ROWS.filter(isWanted), figures, COLUMNS);
  return { machine, versions, missing, rounds, results, syncs };
}

async function peersOf({ scope, isWanted }: Run, peers: readonly Peer[]): Promise<Contender[]> {
  const rows = STORE_ROWS.filter(isWanted);
  const contenders: Contender[] = [];
  for (const peer of rows.length === 0 ? [] : peers) {
    progress(`storing and checking files: ${peer.name}`);
    contenders.push(await preparePeer(scope, peer, rows));
  }
  return contenders;
}

/** The gate and other proxies, in front of one application. */
async function proxiesOf(
  { scope, isWanted }: Run,
  proxies: readonly Proxy[],
): Promise<Contender[]> {
  if (!isWanted(PROXY_ROW)) return [];
  const upstream = await startApplication(scope);
  const { current } = await checkoutsOf(scope, undefined);
  return [gateOf(current), ...proxies].map(({ name, start }) =>
    proxyContender(scope, name, async (own) => {
      const proxy = await start(own, upstream);
      await checkProxy(proxy);
      return proxy;
    })
  );
}

async function addSyncs(
  scope: Scope,
  peers: readonly Peer[],
  figures: Figures,
  syncs: Map<string, readonly SyncsPerWrite[]>,
): Promise<void> {
  for (const peer of peers) {
    progress(`counting syncs: ${peer.name}`);
    const found = await measureSyncs(scope, peer);
    if (found.length > 0) syncs.set(peer.name, found);
    for (const [index, calls] of found.entries()) {
      addFigure(figures, SYNC_ROWS[index]?.name ?? "", peer.name, sumOf(calls));
    }
  }
}

function printReport(report: PeersReport, isMarkdown: boolean): void {
  const { machine, versions, missing, rounds, results, syncs } = report;
  const times = rounds === 1 ? "one round" : `medians of ${rounds} rounds (lowest–highest)`;
  const table = isMarkdown ? markdownTable : textTable;
  const calls = syncLines(syncs);
  print(
    `${machine}; load by wrk; ${times}\n${versions.join(", ")}\n` +
      `${missing.map((line) => `${line}\n`).join("")}\n${table(results, COLUMNS)}` +
      (calls.length === 0
        ? ""
        : `\nCalls that sync, for each upload of 4 KiB, by connections:\n\n${
          calls.map((line) => `- ${line}\n`).join("")
        }`),
  );
}

/** Tells on standard error how far the run is, so that the table alone can be redirected. */
function progress(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}
