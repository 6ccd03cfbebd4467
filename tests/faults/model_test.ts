import { assertNotMatch } from "@std/assert";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { sweepStore } from "./support/crash_sweep.ts";
import { TRAFFIC } from "./support/model_client.ts";
import { announceSeed, isFull } from "./support/model_random.ts";
import {
  assertCounts,
  assertCovered,
  makeSpots,
  readAll,
  runClients,
} from "./support/model_run.ts";
import { World } from "./support/model_world.ts";
import { auditStore } from "./support/store_audit.ts";

const OPERATIONS = isFull() ? 20_000 : 3000;

Deno.test("Twenty clients at once get no answer that no order of their operations explains.", async () => {
  const seed = announceSeed();
  await using folder = await Folder.make();
  await using server = await TestServer.start({ data: folder.path });
  const world = new World(makeSpots());
  world.servers = [server];
  let left = OPERATIONS;
  await runClients(world, { seed, clients: 20, mix: TRAFFIC }, () => left-- > 0);
  await readAll(world);
  assertCovered(world);
  await assertCounts(world);
  assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
  await server.stop();
  await auditStore(folder.path, false);
  await sweepStore(folder.path);
  await auditStore(folder.path, true);
});
