import { assertEquals } from "@std/assert";
import { Drive, drives, type Usage } from "../../support/drive.ts";
import type { TestServer } from "../../support/server.ts";
import { Client, type Mix } from "./model_client.ts";
import { get, list } from "./model_file_steps.ts";
import { Random } from "./model_random.ts";
import { look } from "./model_upload_steps.ts";
import type { Spot, World } from "./model_world.ts";

/** 30 names in three drives. */
export function makeSpots(): Spot[] {
  return ["drive-a", "drive-b", "drive-c"].flatMap((drive) =>
    Array.from({ length: 10 }, (_, i) => ({ drive, name: `folder/name ${i}` }))
  );
}

export interface Load {
  seed: number;
  clients: number;
  mix: Mix;
}

/** Clients that do random operations until `goesOn` says no before one of them; throws what the first failure is. */
export async function runClients(
  world: World,
  { seed, clients, mix }: Load,
  goesOn: () => boolean,
): Promise<void> {
  let failed = false;
  const running = Array.from({ length: clients }, async (_, i) => {
    const client = new Client(world, new Random(seed * 1000 + i), mix);
    try {
      while (!failed && goesOn()) await world.perform(client.next(), i);
    } catch (error) {
      failed = true;
      throw error;
    }
  });
  const ends = await Promise.allSettled(running);
  const broken = ends.find((end) => end.status === "rejected");
  if (broken === undefined) return;
  throw new Error(`Repeat it with KVDRIVE_SEED=${seed}`, { cause: broken.reason });
}

/** Reads everything while nobody else does anything: it must be what the model says. */
export async function readAll(world: World): Promise<void> {
  for (const spot of world.spots) {
    await world.perform(get(world, spot, undefined));
    for (const upload of world.uploads(spot)) await world.perform(look(upload, spot));
  }
  for (const drive of world.drives) await world.perform(list(world, drive));
}

/** "Names, counts and bytes used agree with each other", on each of the servers. */
export async function assertCounts(world: World): Promise<void> {
  for (const server of world.servers) {
    const counts = await drives(server);
    for (const name of world.drives) {
      assertEquals(counts.get(name) ?? { files: 0, bytes: 0 }, await recount(server, name));
    }
  }
}

/** What each run must have seen, or it has shown little. */
const COMMON = [
  ...["put 201", "put 412", "get 200", "get 206", "get 304", "get 404", "get 416", "delete 200"],
  ...["start 202", "part 200", "part 404", "part 409", "look 200", "list 200"],
  ...["complete 200", "complete 400", "complete 404", "complete 412", "abort 200"],
];

export function assertCovered({ seen }: World): void {
  assertEquals(COMMON.filter((what) => !seen.has(what)), [], "These answers never came");
}

async function recount(server: TestServer, name: string): Promise<Usage> {
  const files = await new Drive(server, name).details();
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}
