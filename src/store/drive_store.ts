import type { Database } from "./database.ts";
import { prefixes } from "./keys.ts";

/** What a drive holds. */
export interface DriveUsage {
  name: string;
  files: number;
  bytes: number;
}

/** The drives of a project with what they hold, in the order of their names' UTF-8 bytes. */
export async function listDrives(db: Database, project: string): Promise<DriveUsage[]> {
  const drives = new Map<string, DriveUsage>();
  const counters = db.reader.list<Deno.KvU64>({ prefix: prefixes.usage(project) });
  for await (const { key, value } of counters) {
    const [, , drive, counter] = key;
    const name = String(drive);
    const usage = drives.get(name) ?? { name, files: 0, bytes: 0 };
    drives.set(name, { ...usage, [String(counter)]: Number(value.value) });
  }
  return [...drives.values()];
}
