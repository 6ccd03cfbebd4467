import { assert, assertNotMatch } from "@std/assert";
import { Folder } from "../../support/command.ts";
import { TestServer } from "../../support/server.ts";
import { sweepStore } from "./crash_sweep.ts";
import { TRAFFIC } from "./model_client.ts";
import { LIMITED, limitProject, LIMITS } from "./model_limits.ts";
import { announceSeed } from "./model_random.ts";
import { assertCounts, assertCovered, makeSpots, readAll, runClients } from "./model_run.ts";
import { World } from "./model_world.ts";
import { auditStore } from "./store_audit.ts";

/**
 * Twenty clients spread over servers on one data folder do random operations, each of whose answers has to be one that
 * some order explains. Then the servers end, and the store is audited before a sweep and after it.
 */
export async function runModel(operations: number, servers: number): Promise<void> {
  const seed = announceSeed();
  await using folder = await Folder.make();
  const world = new World(makeSpots());
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
