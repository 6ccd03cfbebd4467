import { delay } from "@std/async/delay";
import { assertNotMatch } from "@std/assert";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { sweepStore } from "./support/crash_sweep.ts";
import { FakeClock } from "./support/fake_clock.ts";
import { TRAFFIC, WRITES } from "./support/model_client.ts";
import { announceSeed, isFull, Random } from "./support/model_random.ts";
import { assertCounts, makeSpots, readAll, runClients } from "./support/model_run.ts";
import { World } from "./support/model_world.ts";
import { auditStore } from "./support/store_audit.ts";

const HOUR = 3600;
const OFFSETS = [-HOUR, 0, HOUR];
/** How long clients work, in milliseconds: longer than the time between two sweeps where there is time for that. */
const RUN_TIME = isFull() ? 300_000 : 15_000;
/** The longest time between two jumps, in milliseconds. */
const LONGEST = 800;
const CLIENTS = 6;

Deno.test("A clock that jumps by hours changes no answer.", async () => {
  const seed = announceSeed();
  const random = new Random(seed);
  await using clock = await FakeClock.make();
  await using folder = await Folder.make();
  const world = new World(makeSpots());
  for (const mix of [TRAFFIC, WRITES]) {
    // Each start sweeps at once, at whatever time it is by then.
    await using server = await TestServer.start({ data: folder.path, env: clock.env });
    world.servers = [server];
    await readAll(world);
    let goesOn = true;
    const load = runClients(world, { seed, clients: CLIENTS, mix }, () => goesOn);
    const jumps = jump(clock, random, RUN_TIME / 2);
    await Promise.race([load, jumps]);
    goesOn = false;
    await Promise.all([load, jumps]);
    await readAll(world);
    await assertCounts(world);
    assertNotMatch(server.text, /^\s+at .*:\d+:\d+|"status":5/m);
    await server.stop();
  }
  await auditStore(folder.path, false);
  // Deadlines that were set while the clock was ahead are an hour later.
  await clock.set(2 * HOUR);
  await sweepStore(folder.path, clock.env);
  await auditStore(folder.path, true);
});

Deno.test("A second server whose clock is hours off loses nothing that the first acknowledged.", async () => {
  const seed = announceSeed();
  const random = new Random(seed);
  await using clock = await FakeClock.make();
  await using folder = await Folder.make();
  const world = new World(makeSpots());
  await using server = await TestServer.start({ data: folder.path });
  world.servers = [server];
  // An upload that runs may be given up and answered with 503. What was acknowledged stays.
  world.mayFail = true;
  let goesOn = true;
  const load = runClients(world, { seed, clients: CLIENTS, mix: WRITES }, () => goesOn);
  load.catch(() => goesOn = false);
  const end = performance.now() + RUN_TIME;
  while (goesOn && performance.now() < end) {
    await clock.set(random.pick(OFFSETS));
    // It sweeps when it starts.
    await using other = await TestServer.start({ data: folder.path, env: clock.env });
    await delay(random.below(2 * LONGEST));
    await other.stop();
  }
  goesOn = false;
  await load;
  world.mayFail = false;
  await readAll(world);
  await assertCounts(world);
  await server.stop();
  await auditStore(folder.path, false);
});

async function jump(clock: FakeClock, random: Random, time: number): Promise<void> {
  const end = performance.now() + time;
  while (performance.now() < end) {
    await clock.set(random.pick(OFFSETS));
    await delay(random.below(LONGEST));
  }
}
