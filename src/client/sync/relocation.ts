import { LONG_ANSWER_TIME } from "../api/transport.ts";
import type { CopyResult, NamePair } from "../api/types.ts";
import { fileExists, KvdriveError, unlessMissing } from "../errors.ts";
import type { RemoteDrives } from "../drives.ts";

/** Files that are copied or moved by one request: the server works on them one after another. */
const BATCH = 200;

/** How files get another name on the server, without their bytes being sent. */
export interface Relocation {
  kind: "copy" | "move";
  drive: string;
  toDrive: string;
  /** Whether files that have the new names are replaced. */
  overwrite: boolean;
}

/** What became of one file: `error` says why it has no new name. */
export type Relocated<T extends NamePair> = T & { error?: string };

/**
 * Copies or moves one file.
 *
 * @returns Whether there was such a file.
 * @throws {KvdriveError} as `fileExists` makes it, unless `overwrite`, if a file has the new name.
 */
export async function relocate(
  drives: RemoteDrives,
  how: Relocation,
  { from, to }: NamePair,
): Promise<boolean> {
  try {
    return await unlessMissing(send(drives, how, { from, to })) !== undefined;
  } catch (error) {
    const exists = error instanceof KvdriveError && error.code === "file_exists";
    throw exists ? fileExists() : error;
  }
}

/** Copies or moves files, in batches. The failure of one does not keep the others from it. */
export async function* relocateAll<T extends NamePair>(
  drives: RemoteDrives,
  how: Relocation,
  pairs: AsyncIterable<T>,
): AsyncGenerator<Relocated<T>> {
  for await (const batch of batchesOf(pairs, BATCH)) {
    const items = batch.map(({ from, to }) => ({ from, to }));
    const { failed = [] } = await send(drives, how, { items });
    const errors = new Map(failed.map(({ name, error }) => [name, error]));
    for (const pair of batch) {
      const error = errors.get(pair.from);
      yield { ...pair, ...(error === undefined ? {} : { error }) };
    }
  }
}

/** Unlike the typed client, it repeats moves whose answer was lost: the caller sees by the ETag that one was done. */
async function send(
  { connection: { transport } }: RemoteDrives,
  { kind, drive, toDrive, overwrite }: Relocation,
  what: NamePair | { items: NamePair[] },
): Promise<Partial<CopyResult>> {
  return await transport.json({
    method: "POST",
    path: [...transport.files, drive, "files", kind],
    json: { ...what, to_drive: toDrive, overwrite },
    timeout: LONG_ANSWER_TIME,
  });
}

/** Collects items into arrays of at most `size`. */
export async function* batchesOf<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
