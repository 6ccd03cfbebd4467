import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { administer, ADMINISTERED, PROJECTS } from "../../../support/admin.ts";
import { Folder } from "../../../support/command.ts";
import { Drive, drives, type Usage } from "../../../support/drive.ts";
import { PROJECT_ID, type ServerOptions, TestServer } from "../../../support/server.ts";
import { auditStore } from "../audit/store_audit.ts";
import { sweepStore } from "../crash.ts";
import { announceSeed, Random } from "../random.ts";
import { Client, type Mix, TRAFFIC } from "./client.ts";
import { get, list } from "./file_steps.ts";
import { look } from "./upload_steps.ts";
import { type FileRef, World } from "./world.ts";

/** Returns 30 names in three drives. */
export function makeFileRefs(): FileRef[] {
  return ["drive-a", "drive-b", "drive-c"].flatMap((drive) =>
    Array.from({ length: 10 }, (_, i) => ({ drive, name: `folder/name ${i}` }))
  );
}

export interface Load {
  seed: number;
  clients: number;
  mix: Mix;
}

/** Runs clients with random operations until `isRunning` returns `false`. Throws the first failure. */
export async function runClients(
  world: World,
  { seed, clients, mix }: Load,
  isRunning: () => boolean,
): Promise<void> {
  let failed = false;
  const running = Array.from({ length: clients }, async (_, i) => {
    const client = new Client(world, new Random(seed * 1000 + i), mix);
    try {
      while (!failed && isRunning()) await world.perform(client.next(), i);
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

/** Reads all files and uploads while no other client runs, and compares them with the model. */
export async function readAll(world: World): Promise<void> {
  for (const ref of world.refs) {
    await world.perform(get(world, ref, undefined));
    for (const upload of world.uploads(ref)) await world.perform(look(upload, ref));
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

/** Responses that every run must contain. */
const EXPECTED = [
  ...["put 201", "put 412", "get 200", "get 206", "get 304", "get 404", "get 416", "delete 200"],
  ...["copy 201", "copy 412", "move 200", "move 412"],
  ...["start 202", "part 200", "part 404", "part 409", "look 200", "list 200"],
  ...["complete 200", "complete 400", "complete 404", "complete 412", "abort 200"],
];

function assertCovered({ seen }: World): void {
  assertEquals(EXPECTED.filter((what) => !seen.has(what)), [], "These responses never occurred");
}

async function recount(server: TestServer, name: string): Promise<Usage> {
  const files = await new Drive(server, name).details();
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

/** Scrubs continuously, with a limit of open uploads that is reached. */
export const LIMITED: ServerOptions = {
  ...ADMINISTERED,
  args: ["--scrub-every", "1s", "--max-open-uploads", "40"],
};
/** Less than the 30 names and their uploads may use. */
const MAX_BYTES = 15_000_000;
/** Rejections because of the quota and of the limit of open uploads. */
export const LIMITS = new Set(["put 507", "part 507", "complete 507", "copy 507", "start 409"]);

/** Room for the trash, in bytes. */
const TRASH_BYTES = 50_000_000;

/** Sets a quota on the project of the servers, optionally with a trash. */
export async function limitProject(
  [server]: readonly TestServer[],
  { hasTrash = false }: { hasTrash?: boolean } = {},
): Promise<void> {
  if (server === undefined) return;
  const body = hasTrash
    ? { max_bytes: MAX_BYTES + TRASH_BYTES, trash_days: 1 }
    : { max_bytes: MAX_BYTES, trash_days: 0 };
  (await administer(server, "PATCH", `${PROJECTS}/${PROJECT_ID}`, { body })).expect(200);
}

/**
 * Runs 20 clients with random operations on servers that share a data folder, and checks that the responses are
 * linearizable. Then stops the servers, and audits the store before and after a sweep.
 */
export async function runModel(operations: number, servers: number): Promise<void> {
  const seed = announceSeed();
  await using folder = await Folder.make();
  const world = new World(makeFileRefs());
  {
    await using running = new AsyncDisposableStack();
    for (let i = 0; i < servers; i++) {
      const server = running.use(await TestServer.start({ ...LIMITED, data: folder.path }));
      world.servers = [...world.servers, server];
    }
    await limitProject(world.servers);
    world.refusals = LIMITS;
    let left = operations;
    await runClients(world, { seed, clients: 20, mix: TRAFFIC }, () => left-- > 0);
    await readAll(world);
    assertCovered(world);
    for (const refusal of ["start 409", "part 507"]) assert(world.seen.has(refusal), refusal);
    await assertCounts(world);
    for (const server of world.servers) {
      assertNotMatch(server.text, /locked|^\s+at .*:\d+:\d+/m);
      await server.stop();
    }
  }
  await auditStore(folder.path, false);
  await sweepStore(folder.path);
  await auditStore(folder.path, true);
}
