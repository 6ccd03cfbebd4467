/**
 * A server under mixed load for a long time: several tenants, slow and hostile clients, backups and checks. At the end it
 * prints what the run took, and fails unless every bound held and every acknowledged byte is there.
 *
 *     deno task soak --minutes 3
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { announceSeed, Random } from "../faults/support/random.ts";
import { pagesIn } from "../faults/support/store_files.ts";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { MIB } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import type { Ledger } from "./ledger.ts";
import { runLoad } from "./load.ts";
import { Monitor, type Sample } from "./monitor.ts";
import { checkOwnBackup } from "./operator.ts";
import { checkAnswers, megabytes, Verdict } from "./verdict.ts";

const DEFAULT_MINUTES = 30;
/** Bytes of a page of the store's file. */
const PAGE = 4096;
const MINUTE = 60_000;
/** How long replaced bytes may take to be reclaimed after the load, in milliseconds, with a margin for looking. */
const RECLAIM_TIME = 90_000 + 15_000;
/** How long connections may stay idle after the load, in milliseconds. */
const IDLE_TIME = 65_000;
/** Pauses between two looks at the disk, in milliseconds. */
const LOOK_INTERVAL = 5000;

/** Memory and descriptors of the server at the most. */
const MOST_RESIDENT = 700 * MIB;
const MOST_DESCRIPTORS = 300;
/** What the server may keep of both when the load is over, beside what it had before it. */
const KEPT_RESIDENT = 400 * MIB;
const KEPT_DESCRIPTORS = 12;
/**
 * Bytes in use in the store's file for each live one when all is reclaimed, and a fixed part: what the
 * hostile clients stored. Free pages are given back to the disk later, and slowly.
 */
const DISK_FACTOR = 1.25;
const DISK_FIXED = 128 * MIB;
/** Latencies of small requests beside the load, in milliseconds. */
const P99 = 2000;
const SLOWEST = 15_000;

async function soak(minutes: number): Promise<boolean> {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const data = folder.at("data");
  const verdict = new Verdict();
  let ledgers: Ledger[];
  {
    const args = ["--backup-dir", folder.at("backups"), "--every", "1m", "--keep", "2"];
    await using server = await TestServer.start({ ...ADMINISTERED, data, args });
    const monitor = new Monitor(server, (await Project.make(server)).drive("probe"));
    await monitor.settled(MOST_DESCRIPTORS);
    const before = await monitor.sample();
    const end = performance.now() + minutes * MINUTE;
    ledgers = await runLoad({ server, folder, monitor, verdict, random, end });
    const most = monitor.most();
    const live = liveBytes(ledgers);
    const bound = live * DISK_FACTOR + DISK_FIXED;
    const descriptors = before.descriptors + KEPT_DESCRIPTORS;
    const { used, after } = await settle(monitor, server.data, bound, descriptors);
    judgeMachine(verdict, { before, most, after });
    verdict.bound(`store for ${megabytes(live)}, after`, used, bound, megabytes);
    judgeLatency(verdict, monitor);
    await checkAnswers(verdict, server);
    await checkLedgers(verdict, ledgers, server);
    await verdict.holds("the server's own backups", () => {
      return checkOwnBackup(folder.at("backups"), folder.path);
    });
    verdict.check("the server ends in peace", (await server.stop()).code === 0);
  }
  await using server = await TestServer.start({ ...ADMINISTERED, data });
  await checkLedgers(verdict, ledgers, server);
  await Deno.stdout.write(new TextEncoder().encode(verdict.report()));
  return verdict.failures === 0;
}

/**
 * Waits until replaced bytes are reclaimed and a backup that is running has ended, as long as that may take; returns the
 * bytes that the store's file has in use, and what the server had open then: the next backup may begin at any time.
 */
async function settle(
  monitor: Monitor,
  data: string,
  bound: number,
  descriptors: number,
): Promise<{ used: number; after: Sample }> {
  const end = performance.now() + RECLAIM_TIME;
  await delay(IDLE_TIME);
  for (;;) {
    const { total, free } = pagesIn(data);
    const used = (total - free) * PAGE;
    const after = await monitor.sample();
    const isSettled = used <= bound && after.descriptors <= descriptors;
    if (isSettled || performance.now() > end) return { used, after };
    await delay(LOOK_INTERVAL);
  }
}

interface Machine {
  before: Sample;
  most: Omit<Sample, "at">;
  after: Sample;
}

function judgeMachine(verdict: Verdict, { before, most, after }: Machine): void {
  const count = String;
  verdict.bound("resident memory, most", most.resident, MOST_RESIDENT, megabytes);
  verdict.bound(
    "resident memory, after",
    after.resident,
    before.resident + KEPT_RESIDENT,
    megabytes,
  );
  verdict.bound("descriptors, most", most.descriptors, MOST_DESCRIPTORS, count);
  verdict.bound(
    "descriptors, after",
    after.descriptors,
    before.descriptors + KEPT_DESCRIPTORS,
    count,
  );
  verdict.tell("disk, most", megabytes(most.disk));
  verdict.tell("disk, after", megabytes(after.disk));
}

function judgeLatency(verdict: Verdict, monitor: Monitor): void {
  const unit = (time: number) => `${time.toFixed(1)} ms`;
  verdict.tell("small requests, median", unit(monitor.percentile(0.5)));
  verdict.bound("small requests, 99 %", monitor.percentile(0.99), P99, unit);
  verdict.bound("small requests, slowest", monitor.percentile(1), SLOWEST, unit);
}

function liveBytes(ledgers: readonly Ledger[]): number {
  return ledgers.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function checkLedgers(
  verdict: Verdict,
  ledgers: readonly Ledger[],
  server: TestServer,
): Promise<void> {
  for (const ledger of ledgers) {
    const { name, owner } = ledger.drive;
    await verdict.holds(`all that ${name} acknowledged`, () => {
      return ledger.checkAll(new Drive(server, name, owner));
    });
  }
}

function minutesOf([option, value, ...others]: readonly string[]): number {
  if (option === undefined) return DEFAULT_MINUTES;
  const minutes = Number(value);
  if (option === "--minutes" && minutes > 0 && others.length === 0) return minutes;
  throw new RangeError("Give no arguments, or --minutes and a number");
}

if (import.meta.main) Deno.exitCode = await soak(minutesOf(Deno.args)) ? 0 : 1;
