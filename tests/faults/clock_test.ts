import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, Upload } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { statusWith, StoreCommands } from "../support/store/commands.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { ClockedServer, FakeClock, HOUR } from "./support/clock.ts";
import { sweepStore } from "./support/crash.ts";
import { TRAFFIC, WRITES } from "./support/model/client.ts";
import { assertCounts, makeFileRefs, readAll, runClients } from "./support/model/run.ts";
import { World } from "./support/model/world.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

/** Longer than two sweeps of the server, in milliseconds. */
const TWO_SWEEPS = 35_000;

/** Runs a test with a server whose clock can be set. */
async function withClock(
  args: string[],
  test: (clocked: ClockedServer, drive: Drive) => Promise<void>,
): Promise<void> {
  await using clocked = await ClockedServer.start(args);
  await test(clocked, new Drive(clocked.server, "clock"));
}

Deno.test("Running uploads survive a clock change of an hour, forward and back.", async () => {
  await Promise.all([HOUR, -HOUR].map(assertUploadsSurvive));
});

async function assertUploadsSurvive(jump: number): Promise<void> {
  await withClock(["--idle-timeout", "10m"], async (clocked, drive) => {
    const data = patternBytes(5 * MIB, 1);
    const kept = patternBytes(MIB, 2);
    await drive.put("kept", patternBytes(MIB, 3));
    await drive.put("kept", kept);
    const upload = await Upload.start(drive, "parts");
    (await upload.send(1, data)).expect(200);
    const bodies = [new GatedBody(data), new GatedBody(data)] as const;
    const put = drive.send("POST", "/files?name=paused", { body: bodies[0].stream });
    const part = upload.send(2, bodies[1].stream);
    await Promise.all(bodies.map(({ halfSent }) => halfSent));
    // The server receives the first half; later bytes show that the client is alive.
    await delay(2000);
    await clocked.setClock(jump);
    await delay(TWO_SWEEPS);
    for (const body of bodies) body.open();
    (await put).expect(201);
    (await part).expect(200);
    (await upload.complete()).expect(200);
    assertSameBytes((await drive.get("paused")).expect(200).bytes, data);
    const whole = new Uint8Array([...data, ...data]);
    assertSameBytes((await drive.get("parts")).expect(200).bytes, whole);
    assertSameBytes((await drive.get("kept")).expect(200).bytes, kept);
    assertEquals((await drive.usage())?.files, 3);
  });
}

Deno.test("A key revoked by another process stops working even if the clock was set back.", async () => {
  await withClock([], async (clocked) => {
    const { server } = clocked;
    const commands = new StoreCommands(server.data);
    const { prefix, project_key } = await commands.json<{ prefix: string; project_key: string }>(
      "key",
      "create",
      PROJECT_ID,
    );
    const status = async () => await statusWith(server, project_key);
    assertEquals(await status(), 200);
    await clocked.setClock(-HOUR);
    assertEquals(await status(), 200);
    await commands.text("key", "revoke", PROJECT_ID, prefix, "--yes");
    const end = performance.now() + 60_000;
    while (await status() !== 401) {
      assert(performance.now() < end, "The revoked key still works");
      await delay(100);
    }
  });
});

Deno.test("An expired upload stays expired when the clock is set back.", async () => {
  await withClock(["--upload-ttl", "30m"], async (clocked, drive) => {
    const upload = await Upload.start(drive, "a");
    (await upload.send(1, patternBytes(100_000))).expect(200);
    await clocked.setClock(HOUR);
    (await upload.lookUp()).expect(404);
    await clocked.setClock(0);
    (await upload.lookUp()).expect(404);
    (await upload.send(2, patternBytes(10))).expect(404);
    (await upload.complete()).expect(404);
    assertEquals((await drive.send("GET", "/uploads")).expect(200).json, { uploads: [] });
    await drive.put("a", "after");
    assertEquals(await drive.text("a"), "after");
  });
});

const OFFSETS = [-HOUR, 0, HOUR];
/** How long clients run, in milliseconds. The full run is longer than the interval of sweeps. */
const RUN_TIME = isFull() ? 300_000 : 15_000;
/** The longest time between two clock changes, in milliseconds. */
const MAX_PAUSE = 800;
const CLIENTS = 6;

Deno.test("Clock changes by hours do not affect responses.", async () => {
  const seed = announceSeed();
  const random = new Random(seed);
  await using clock = await FakeClock.make();
  await using folder = await Folder.make();
  const world = new World(makeFileRefs());
  for (const mix of [TRAFFIC, WRITES]) {
    // Every start sweeps at once, with the current clock.
    await using server = await TestServer.start({ data: folder.path, env: clock.env });
    world.servers = [server];
    await readAll(world);
    let isRunning = true;
    const load = runClients(world, { seed, clients: CLIENTS, mix }, () => isRunning);
    const jumps = jump(clock, random, RUN_TIME / 2);
    await Promise.race([load, jumps]);
    isRunning = false;
    await Promise.all([load, jumps]);
    await readAll(world);
    await assertCounts(world);
    assertNotMatch(server.text, /^\s+at .*:\d+:\d+|"status":5/m);
    await server.stop();
  }
  await auditStore(folder.path, false);
  // Deadlines set while the clock was ahead are an hour later.
  await clock.set(2 * HOUR);
  await sweepStore(folder.path, clock.env);
  await auditStore(folder.path, true);
});

Deno.test("A second server with a wrong clock keeps writes that the first acknowledged.", async () => {
  const seed = announceSeed();
  const random = new Random(seed);
  await using clock = await FakeClock.make();
  await using folder = await Folder.make();
  const world = new World(makeFileRefs());
  await using server = await TestServer.start({ data: folder.path });
  world.servers = [server];
  // A running upload may be aborted with 503. Acknowledged writes must stay.
  world.mayFail = true;
  let isRunning = true;
  const load = runClients(world, { seed, clients: CLIENTS, mix: WRITES }, () => isRunning);
  load.catch(() => isRunning = false);
  const end = performance.now() + RUN_TIME;
  while (isRunning && performance.now() < end) {
    await clock.set(random.pick(OFFSETS));
    // It sweeps at its start.
    await using other = await TestServer.start({ data: folder.path, env: clock.env });
    await delay(random.below(2 * MAX_PAUSE));
    await other.stop();
  }
  isRunning = false;
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
    await delay(random.below(MAX_PAUSE));
  }
}
