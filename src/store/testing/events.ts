import { readerOf } from "./entries.ts";
import type { TestStore } from "./stores.ts";

export const ALL_EVENTS = { limit: 1000, last: "" };

/** Returns the events of the project, the oldest first, as `name target`. */
export async function eventsOf({ store }: TestStore, project = "p"): Promise<string[]> {
  const { events } = await store.events.list(project, ALL_EVENTS);
  return events.map(({ event, target }) => target === undefined ? event : `${event} ${target}`)
    .reverse();
}

/** The same of the server, as `name project target`. */
export async function serverEventsOf({ store }: TestStore): Promise<string[]> {
  const { events } = await store.events.listServer(ALL_EVENTS);
  return events.map(({ event, project = "", target = "" }) => `${event} ${project} ${target}`)
    .reverse();
}

/** Returns the number of entries below a prefix. */
export async function countEntries(
  { db }: Pick<TestStore, "db">,
  prefix: Deno.KvKey,
): Promise<number> {
  return (await Array.fromAsync(readerOf(db, prefix).list({ prefix }))).length;
}
