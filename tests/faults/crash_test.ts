import { assertGreater } from "@std/assert";
import { delay } from "@std/async/delay";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { abortAll, breakSweep, sweepStore } from "./support/crash.ts";
import { WRITES } from "./support/model/client.ts";
import {
  assertCounts,
  LIMITED,
  limitProject,
  LIMITS,
  makeFileRefs,
  readAll,
  runClients,
} from "./support/model/run.ts";
import { World } from "./support/model/world.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const ROUNDS = isFull() ? 200 : 8;
const PAIR_ROUNDS = isFull() ? 100 : 4;
/** Rounds between two audits of the store. */
const AUDIT_EVERY = 4;
/** The longest time under load before a server is killed, in milliseconds. */
const MAX_LOAD_TIME = 1200;
/** The longest time before a sweep is killed, and the start-up time before it, in milliseconds. */
const MAX_SWEEP_TIME = 300;
const SWEEP_START = 40;
const CLIENTS = 8;
/** When a shared store has done what a killed server had sent, in milliseconds. */
const SETTLING = 200;

Deno.test("After a kill under load every write is stored completely or not stored.", async () => {
  const seed = announceSeed();
  await using folder = await Folder.make();
  const random = new Random(seed);
  const world = new World(makeFileRefs());
  world.refusals = LIMITS;
  for (let round = 1; round <= ROUNDS; round++) {
    await killUnderLoad(world, folder.path, {
      seed: seed + round,
      after: random.below(MAX_LOAD_TIME),
      // Turning the trash off empties it in the background.
      hasTrash: round % 4 < 2,
    });
    if (round % AUDIT_EVERY !== 0) continue;
    await auditStore(folder.path, false);
    await breakSweeps(folder.path, random, 1);
  }
  await endAll(world, folder.path, random);
  assertGreater(
    world.unanswered,
    ROUNDS,
    "Too few requests were running when the server was killed",
  );
});

Deno.test("After one of two servers is killed under load, the other has every write completely or not.", async () => {
  const seed = announceSeed();
  await using folder = await Folder.make();
  const random = new Random(seed);
  const world = new World(makeFileRefs());
  world.refusals = LIMITS;
  {
    await using survivor = await TestServer.start({ ...LIMITED, data: folder.path });
    for (let round = 1; round <= PAIR_ROUNDS; round++) {
      const after = random.below(MAX_LOAD_TIME);
      const kill = { seed: seed + round, after, hasTrash: round % 2 === 0, survivor };
      await killUnderLoad(world, folder.path, kill);
      await delay(SETTLING);
      await check(world, survivor);
    }
    await survivor.stop();
  }
  await endAll(world, folder.path, random);
});

interface Kill {
  seed: number;
  /** When the server is killed, in milliseconds. */
  after: number;
  hasTrash: boolean;
  /** Another server on the store, which continues. */
  survivor?: TestServer;
}

/** Starts a server, checks the stored files, and kills it while clients write. */
async function killUnderLoad(
  world: World,
  data: string,
  { seed, after, hasTrash, survivor }: Kill,
): Promise<void> {
  await using server = await TestServer.start({ ...LIMITED, data });
  await limitProject([server], { hasTrash });
  await check(world, server);
  if (survivor !== undefined) world.servers = [server, survivor];
  const load = runClients(world, { seed, clients: CLIENTS, mix: WRITES }, () => !world.isKilled);
  const kill = delay(after).then(async () => {
    world.isKilled = true;
    await server.stop("SIGKILL");
  });
  await Promise.allSettled([load, kill]);
  await Promise.all([load, kill]);
}

async function check(world: World, server: TestServer): Promise<void> {
  world.isKilled = false;
  world.servers = [server];
  await readAll(world);
  await assertCounts(world);
}

/** After a clean stop a sweep leaves only files and open uploads, and after their abort only files. */
async function endAll(world: World, data: string, random: Random): Promise<void> {
  {
    await using server = await TestServer.start({ data });
    await check(world, server);
    await server.stop();
  }
  await auditStore(data, false);
  await sweepStore(data);
  await auditStore(data, true);
  {
    await using server = await TestServer.start({ data });
    await check(world, server);
    await abortAll(server, world.drives);
    await server.stop();
  }
  await breakSweeps(data, random, 6);
  await sweepStore(data);
  await auditStore(data, true);
}

/** Kills sweeps, which must lose nothing: the next one resumes. */
async function breakSweeps(data: string, random: Random, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    // Most sweeps take only a few milliseconds.
    const after = MAX_SWEEP_TIME * random.fraction() ** 3;
    await breakSweep(data, SWEEP_START + after);
    await auditStore(data, false);
  }
}
