/**
 * Clients that do what programs do, and check every answer.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import type { Random } from "../faults/support/random.ts";
import type { Answer } from "../support/answer.ts";
import { KIB, MIB } from "../support/bytes.ts";
import { type Drive, query, Upload } from "../support/drive.ts";
import { bytesOf, type Content, type Ledger } from "./ledger.ts";

/** Repeats some work until the soak ends. */
export type Loop = (work: () => Promise<void>) => Promise<void>;

export interface ClientOptions {
  loop: Loop;
  random: Random;
  ledger: Ledger;
}

/** Pauses between two requests of one client, in milliseconds: the load is steady, not the machine's limit. */
const PAUSE = 20;

function content(random: Random, smallest: number, largest: number): Content {
  const size = smallest + random.below(largest - smallest);
  return { size, seed: random.below(2 ** 31) };
}

async function put({ drive }: Ledger, name: string, what: Content): Promise<Answer> {
  return await drive.send("POST", `/files${query({ name })}`, { body: bytesOf(what) });
}

/** Writes small files, reads one back for each, and deletes some. */
export async function smallFiles({ loop, random, ledger }: ClientOptions): Promise<void> {
  await loop(async () => {
    const name = `small/${random.below(400)}`;
    const what = content(random, 0, 60 * KIB);
    (await put(ledger, name, what)).expect(201);
    ledger.hold(name, what);
    await ledger.check(random.pick(ledger.names));
    if (random.below(5) === 0) {
      const gone = random.pick(ledger.names);
      assertEquals(await ledger.drive.delete([gone]), { deleted: [gone], failed: [] });
      ledger.drop(gone);
    }
    await delay(PAUSE);
  });
}

/** Overwrites a few names again and again. */
export async function overwrites({ loop, random, ledger }: ClientOptions): Promise<void> {
  await loop(async () => {
    const name = `hot-${random.below(4)}`;
    const what = content(random, 70 * KIB, 700 * KIB);
    (await put(ledger, name, what)).expect(201);
    ledger.hold(name, what);
    if (random.below(4) === 0) await ledger.check(name);
    await delay(PAUSE);
  });
}

/** Uploads large files in parts, reads them whole and in ranges, and removes the oldest. */
export async function largeFiles({ loop, random, ledger }: ClientOptions): Promise<void> {
  let number = 0;
  await loop(async () => {
    const name = `large-${number++ % 4}`;
    const what = content(random, 11 * MIB, 24 * MIB);
    const bytes = bytesOf(what);
    const upload = await Upload.start(ledger.drive, name);
    for (let part = 1, at = 0; at < bytes.length; part++, at += 5 * MIB) {
      (await upload.send(part, bytes.slice(at, at + 5 * MIB))).expect(200);
    }
    if (random.below(5) === 0) {
      (await upload.abort()).expect(200);
      return;
    }
    (await upload.complete()).expect(200);
    ledger.hold(name, what);
    await ledger.check(name);
    const start = random.below(what.size - 1);
    const end = Math.min(what.size, start + random.below(MIB) + 1);
    const range = await ledger.drive.get(name, { Range: `bytes=${start}-${end - 1}` });
    assertEquals(range.expect(206).bytes, bytes.slice(start, end));
    await delay(PAUSE * 10);
  });
}

/** Fills its quota, is refused, and makes room again. */
export async function quotaFiller({ loop, random, ledger }: ClientOptions): Promise<void> {
  await loop(async () => {
    const name = `filler/${random.below(1000)}`;
    const what = content(random, 100 * KIB, 2 * MIB);
    const answer = await put(ledger, name, what);
    if (answer.status === 201) ledger.hold(name, what);
    else {
      answer.expect(507);
      const all = ledger.names;
      for (let i = 0; i < all.length; i += 1000) {
        await ledger.drive.delete(all.slice(i, i + 1000));
      }
      for (const one of all) ledger.drop(one);
    }
    await delay(PAUSE);
  });
}

/** Lists all pages of a drive that others write to: it must be in order and show no name twice. */
export async function lister(loop: Loop, drive: Drive): Promise<void> {
  await loop(async () => {
    const seen: string[] = [];
    for (let last: string | undefined = ""; last !== undefined;) {
      const page = await drive.list({ limit: 50, last });
      seen.push(...page.names);
      last = page.paging?.last;
    }
    assertEquals(seen, [...new Set(seen)].sort(), "A listing is out of order");
    await delay(PAUSE * 20);
  });
}
