import { assertGreater } from "@std/assert";
import { delay } from "@std/async/delay";
import { auditStore } from "../faults/support/audit/store_audit.ts";
import { sweepStore } from "../faults/support/crash.ts";
import { type Mix, TRAFFIC, WRITES } from "../faults/support/model/client.ts";
import {
  assertCounts,
  limitProject,
  LIMITS,
  makeFileRefs,
  readAll,
  runClients,
} from "../faults/support/model/run.ts";
import { World } from "../faults/support/model/world.ts";
import { announceSeed, isFull, Random } from "../faults/support/random.ts";
import { Drive } from "../support/drive.ts";
import { SharedStore, StoreGateway, untilThere } from "./support.ts";

const KILLS = isFull() ? 60 : 6;
const OPERATIONS = isFull() ? 10_000 : 1500;
const CLIENTS = 12;

/** How long the store runs and is away at most, in milliseconds. Only on a slow machine do requests fail in that time. */
const MAX_UP_TIME = 1500;
const MAX_AWAY_TIME = 700;

/** Of so many commits two lose their answers. More would exceed the deadline of a commit that is unlucky several times. */
const LOSS_PERIOD = 10;

Deno.test("Responses of two servers are linearizable while their store is killed and restarted.", async () => {
  await using shared = await SharedStore.start();
  await runLoad(shared, shared.link.url, WRITES, async (random) => {
    for (let i = 0; i < KILLS; i++) {
      await delay(random.below(MAX_UP_TIME));
      await shared.restart(() => delay(random.below(MAX_AWAY_TIME)));
    }
  });
});

Deno.test("Responses of two servers are linearizable while answers of their store are lost.", async () => {
  await using shared = await SharedStore.start();
  await using gateway = new StoreGateway(shared.denokv.url, LOSS_PERIOD);
  await runLoad(shared, gateway.url, TRAFFIC);
  assertGreater(gateway.lost, OPERATIONS / (2 * LOSS_PERIOD));
});

/**
 * Runs clients with random operations on two servers of a store: as long as `meanwhile` runs, or else a number of
 * operations. Then audits the store before and after a sweep.
 */
async function runLoad(
  shared: SharedStore,
  url: string,
  mix: Mix,
  meanwhile?: (random: Random) => Promise<void>,
): Promise<void> {
  const seed = announceSeed();
  const world = new World(makeFileRefs());
  world.refusals = LIMITS;
  {
    await using first = await shared.serve(url);
    await using second = await shared.serve(url);
    world.servers = [first, second];
    await limitProject(world.servers, { hasTrash: true });
    let left = meanwhile === undefined ? OPERATIONS : Infinity;
    world.mayFail = meanwhile !== undefined;
    const load = runClients(world, { seed, clients: CLIENTS, mix }, () => left-- > 0);
    const ended = meanwhile?.(new Random(seed)).finally(() => left = 0);
    await Promise.all([load, ended]);
    world.mayFail = false;
    for (const server of world.servers) await untilThere(new Drive(server, "drive-a"));
    await readAll(world);
    await assertCounts(world);
    for (const server of world.servers) await server.stop();
  }
  await shared.denokv.stop();
  await auditStore(shared.folder.path, false);
  await sweepStore(shared.folder.path);
  await auditStore(shared.folder.path, true);
}
