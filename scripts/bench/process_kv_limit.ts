/**
 * A process that puts records or chunks straight into Deno KV for a while and prints how many a second: what the store
 * can do at the most.
 *
 * @module
 */

import { withSqlite } from "../../src/store/disk/sqlite.ts";
import { randomBytes } from "./server.ts";

/** The input of the process. */
export interface KvLimitInput {
  /** The file of the store. */
  path: string;
  /** Another store's file, whose pages the new one is to have: their size, and whether they can be given back. */
  pagesOf?: string;
  /** Small files with their records, or the chunks of large files. */
  kind: "files" | "chunks";
  /** Bytes of one of them. */
  size: number;
  /** How many go in one operation, and how many operations are on their way at once. */
  together: number;
  inFlight: number;
  /** Makes the keys those of this run alone. */
  run: number;
  seconds: number;
}

const WARM_UP = 0.3;

/** Chunks of one version: those of the largest body. */
const CHUNKS = 160;

if (import.meta.main) {
  const input: KvLimitInput = JSON.parse(Deno.args[0] ?? "");
  if (input.pagesOf !== undefined) copyPages(input.pagesOf, input.path);
  using kv = await Deno.openKv(input.path);
  const put = putter(kv, input);
  await during(WARM_UP, input.inFlight, put);
  const perSecond = await during(input.seconds, input.inFlight, put);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(perSecond * input.together)));
}

/** Lays out the pages of a new file as another has them. It changes nothing once the file has tables. */
function copyPages(from: string, to: string): void {
  const pragmas = withSqlite(from, (sqlite) =>
    ["page_size", "auto_vacuum"].map((pragma) => {
      const value = sqlite.prepare(`PRAGMA ${pragma}`).get()?.[pragma];
      return `PRAGMA ${pragma} = ${value};`;
    }));
  const table = "CREATE TABLE IF NOT EXISTS first (x); DROP TABLE first";
  withSqlite(to, (sqlite) => sqlite.exec(`${pragmas.join("")} ${table}`));
}

/** How often a second the work is done, by so many at once. */
async function during(
  seconds: number,
  atOnce: number,
  work: () => Promise<void>,
): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1000;
  let done = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (performance.now() < end) {
      await work();
      done++;
    }
  }));
  return done * 1000 / (performance.now() - started);
}

/** A function that commits the next operation. */
function putter(kv: Deno.Kv, { kind, size, together, run }: KvLimitInput): () => Promise<void> {
  const bytes = randomBytes(size);
  let n = 0;
  return async () => {
    const operation = kv.atomic();
    for (let i = 0; i < together; i++, n++) {
      if (kind === "files") putFile(operation, `run-${run}-${n}`, versionOf(run, n), bytes);
      else operation.set(["chunk", versionOf(run, n / CHUNKS), n % CHUNKS], bytes);
    }
    await operation.commit();
  };
}

/** A small file as the server keeps it: a record that tells of it, and its bytes. */
function putFile(
  operation: Deno.AtomicOperation,
  name: string,
  version: string,
  bytes: Uint8Array,
): void {
  const now = Date.now();
  operation.set(["file", "bench", "files", name], {
    version,
    size: bytes.byteLength,
    sha256: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    type: "application/octet-stream",
    layout: { kind: "inline" },
    created: now,
    modified: now,
  });
  operation.set(["content", version], bytes);
}

/** A version of a run, as long as those of the server and in the same order. */
function versionOf(run: number, n: number): string {
  return String(run).padStart(10, "0") + String(Math.floor(n)).padStart(16, "0");
}
