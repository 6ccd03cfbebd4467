import { serveTask } from "../disk/sqlite.ts";
import { openDatabase } from "../engine/database_file.ts";

/** Stores to open and to close, each at a moment that several workers agree on, in milliseconds since 1970. */
export interface OpenTask {
  stores: { folder: string; at: number }[];
}

serveTask(async ({ stores }: OpenTask): Promise<number> => {
  for (const { folder, at } of stores) {
    // A timer is not precise enough to meet the others.
    while (Date.now() < at);
    await (await openDatabase(folder)).close();
  }
  return stores.length;
});
