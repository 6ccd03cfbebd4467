import { type Connection, SENT_ANSWER_TIME } from "../connection.ts";
import { ClientError, FileExists, Refused } from "../errors.ts";
import type { RemoteDrives } from "../remote_drives.ts";

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

/** The old and the new name of a file. */
export interface NamePair {
  from: string;
  to: string;
}

/** What became of one file: `error` says why it has no new name. */
export type Relocated<T extends NamePair> = T & { error?: string };

/** Changes in the drives of a project that send no bytes of files. */
export class RemoteChanges {
  constructor(
    private readonly connection: Connection,
  ) {}

  /**
   * Copies or moves one file.
   *
   * @returns Whether there was such a file.
   * @throws {FileExists} unless `overwrite`, if a file has the new name.
   */
  async relocate(
    { kind, drive, toDrive, overwrite }: Relocation,
    { from, to }: NamePair,
  ): Promise<boolean> {
    const body = JSON.stringify({ from, to, to_drive: toDrive, overwrite });
    const path = `${this.connection.drivePath(drive)}/files/${kind}`;
    const timeout = SENT_ANSWER_TIME;
    try {
      await this.connection.requestEmpty({ method: "POST", path, body, timeout });
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 404) return false;
      throw error.status === 409 && /already/.test(error.message) ? new FileExists() : error;
    }
  }

  /** Copies or moves files, in batches. The failure of one does not keep the others from it. */
  async *relocateAll<T extends NamePair>(
    { kind, drive, toDrive, overwrite }: Relocation,
    pairs: AsyncIterable<T>,
  ): AsyncGenerator<Relocated<T>> {
    const path = `${this.connection.drivePath(drive)}/files/${kind}`;
    const timeout = SENT_ANSWER_TIME;
    for await (const batch of batchesOf(pairs, BATCH)) {
      const items = batch.map(({ from, to }) => ({ from, to }));
      const body = JSON.stringify({ items, to_drive: toDrive, overwrite });
      const request = { method: "POST", path, body, timeout };
      const { failed } = await this.connection.requestJson<
        { failed: { name: string; error: string }[] }
      >(request);
      const errors = new Map(failed.map(({ name, error }) => [name, error]));
      for (const pair of batch) {
        const error = errors.get(pair.from);
        yield { ...pair, ...(error === undefined ? {} : { error }) };
      }
    }
  }

  /** Deletes files, and stops keeping folders, whose names end with a slash. Returns why some could not be deleted. */
  async remove(
    drives: RemoteDrives,
    { drive, prefix }: { drive: string; prefix: string },
    names: readonly string[],
  ): Promise<Map<string, string>> {
    const files = names.filter((name) => !name.endsWith("/")).map((name) => prefix + name);
    const failed = await drives.remove(drive, files);
    for (const name of names) {
      if (name.endsWith("/")) await this.deleteFolder(drive, prefix + name);
    }
    const reason = "The server could not delete it";
    return new Map(failed.map((name) => [name.slice(prefix.length), reason]));
  }

  /** Stops keeping a folder. Files in it stay. */
  async deleteFolder(drive: string, name: string): Promise<void> {
    const path = `${this.connection.drivePath(drive)}/folders`;
    const body = JSON.stringify({ name });
    await this.connection.requestEmpty({ method: "DELETE", path, body });
  }
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

/** @throws {ClientError} if a folder would be copied into itself, which would have no end. */
export function requireApart(
  from: { drive: string; prefix: string },
  to: { drive: string; prefix: string },
): void {
  if (from.drive !== to.drive) return;
  const isInside = to.prefix.startsWith(from.prefix) || from.prefix.startsWith(to.prefix);
  if (!isInside) return;
  throw new ClientError(
    `${from.drive}:${from.prefix} and ${to.drive}:${to.prefix} are in each other: choose folders apart`,
  );
}
