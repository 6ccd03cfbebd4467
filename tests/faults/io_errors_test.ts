import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { join } from "@std/path/join";
import { administer, ADMINISTERED, PROJECTS } from "../support/admin.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Folder, namesIn, programCommand } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { sweepStore } from "./support/crash.ts";
import { canInject, FailingDisk, IO_FAULTS, type IoFault } from "./support/io_faults.ts";
import { TRAFFIC, WRITES } from "./support/model/client.ts";
import { assertCounts, makeFileRefs, readAll, runClients } from "./support/model/run.ts";
import { World } from "./support/model/world.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

/** Rounds in which each fault is injected. */
const ROUNDS = isFull() ? 20 : 1;
/** Bounds of the time in which a disk fails, in milliseconds. */
const MIN_FAILURE_TIME = 500;
const MAX_FAILURE_TIME = 1500;
/** Time for a server to recover after its disk did, in milliseconds. */
const RECOVERY = 15_000;
const CLIENTS = 6;
/** A failing read of a memory map is no failing call: see tests/store/reads_slow_test.ts. */
const FAILING_READS = ["--reads", Deno.env.get("KVDRIVE_READS") ?? "direct"];
/** The interval at which the scrub reads a damaged file again, in milliseconds. */
const RECHECK = 60_000;

Deno.test("A failing disk loses no acknowledged write.", async (t) => {
  assert(await canInject(), "These tests need strace and the right to trace a process");
  const seed = announceSeed();
  const random = new Random(seed);
  await using folder = await Folder.make();
  const world = new World(makeFileRefs());
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [i, fault] of IO_FAULTS.entries()) {
      const passed = await t.step(
        `${fault.call} fails with ${fault.error}, round ${round}`,
        async () => {
          await failUnderLoad(world, folder.path, fault, random, seed + round * 100 + i);
        },
      );
      // After a failure the model no longer matches the store.
      if (!passed) return;
    }
  }
  await using server = await TestServer.start({ data: folder.path });
  await check(world, server);
  await server.stop();
  await auditStore(folder.path, false);
  await sweepStore(folder.path);
  await auditStore(folder.path, true);
});

Deno.test("A read that fails once is not reported as damage by verify or the scrub.", async (t) => {
  assert(await canInject(), "These tests need strace and the right to trace a process");
  await using folder = await Folder.make();
  const data = folder.path;
  await using server = await TestServer.start({
    ...ADMINISTERED,
    data,
    args: ["--scrub-every", "200ms", ...FAILING_READS],
  });
  const drive = new Drive(server, "drive");
  for (let i = 0; i < 8; i++) await drive.put(`file ${i}`, patternBytes(MIB, i));
  await t.step("the scrub and downloads", async () => {
    const fault: IoFault = { call: "pread64", error: "EIO" };
    const disk = await FailingDisk.begin(server.process.pid, data, fault, { first: 1, every: 3 });
    const end = performance.now() + RECOVERY;
    while (await disk.failed() < 30 && performance.now() < end) {
      // A download succeeds or fails.
      await drive.get("file 1").catch(() => {});
      await delay(20);
    }
    assert(await disk.failed() > 0, "The disk never failed");
    await disk.end();
    const recheckEnd = performance.now() + 3 * RECHECK;
    while (await damagedFiles(server) > 0) {
      assert(performance.now() < recheckEnd, "Undamaged files are still reported as damaged");
      await delay(500);
    }
  });
  await server.stop();
  for (const call of [10, 30, 100]) {
    await t.step(`read ${call} of verify`, async () => await assertVerified(data, call));
  }
});

Deno.test("A read of verify that fails once is no damage after a crash.", async (t) => {
  assert(await canInject(), "These tests need strace and the right to trace a process");
  await using folder = await Folder.make();
  const data = folder.at("killed");
  {
    await using server = await TestServer.start({ data });
    const drive = new Drive(server, "drive");
    for (let i = 0; i < 8; i++) await drive.put(`file ${i}`, patternBytes(100_000, i));
    await server.stop("SIGKILL");
  }
  // The log is recovered by the first reads, and the checks follow.
  for (const call of [2, 5, 20, 100, 200, 300]) {
    await t.step(`read ${call}`, async () => {
      const copied = folder.at(`copy ${call}`);
      await Deno.mkdir(copied);
      const names = (await namesIn(data)).filter((name) => /\.db(-wal)?$/.test(name));
      assertEquals(names.length, 4);
      for (const name of names) await Deno.copyFile(join(data, name), join(copied, name));
      await assertVerified(copied, call);
    });
  }
});

/** Asserts that verify finds no problem if one read of the store's files fails. */
async function assertVerified(data: string, call: number): Promise<void> {
  const [program, ...args] = programCommand(["verify", "--data", data]) as [string, ...string[]];
  const trace = `${data}/trace`;
  const names = (await namesIn(data)).filter((name) => name.endsWith(".db"));
  const files = names.flatMap((name) => [join(data, name), join(data, `${name}-wal`)]);
  const { code, stdout, stderr } = await new Deno.Command("strace", {
    args: [
      ...["-f", "-qq", "-o", trace, ...files.flatMap((path) => ["-P", path])],
      ...["-e", "trace=pread64", "-e", `inject=pread64:error=EIO:when=${call}`],
      program,
      ...args,
    ],
    env: { NO_COLOR: "1" },
  }).output();
  const [text, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertMatch(await Deno.readTextFile(trace), /INJECTED/);
  assertEquals([code, error], [0, ""], text);
  assertMatch(text ?? "", /^No problems found/);
}

async function damagedFiles(server: TestServer): Promise<number> {
  const answer = await administer(server, "GET", PROJECTS);
  return (answer.json as { integrity: { damaged_files: number } }).integrity.damaged_files;
}

/** Starts a server, makes its disk fail under load, and asserts that it recovers without a restart. */
async function failUnderLoad(
  world: World,
  data: string,
  fault: IoFault,
  random: Random,
  seed: number,
): Promise<void> {
  const args = fault.call === "pread64" ? FAILING_READS : [];
  await using server = await TestServer.start({ data, args });
  await check(world, server);
  let isRunning = true;
  const mix = fault.call === "pread64" ? TRAFFIC : WRITES;
  const load = runClients(world, { seed, clients: CLIENTS, mix }, () => isRunning);
  // A failure is thrown below, where the load is awaited.
  let hasEnded = false;
  load.catch(() => hasEnded = true);
  await delay(random.below(300));
  world.mayFail = true;
  const times = { first: 1 + random.below(20), every: 1 + random.below(12) };
  const disk = await FailingDisk.begin(server.process.pid, data, fault, times);
  await delay(MIN_FAILURE_TIME + random.below(MAX_FAILURE_TIME - MIN_FAILURE_TIME));
  // On a busy machine the first of these calls may be late. Files are rarely truncated.
  const isRare = fault.call === "ftruncate";
  while (!isRare && !hasEnded && await disk.failed() === 0) await delay(50);
  await disk.end();
  isRunning = false;
  await load.catch((cause: unknown) => {
    throw new Error(`The server printed:\n${errorsIn(server.text)}`, { cause });
  });
  await recover(server);
  await check(world, server);
  // Half of the servers crash: writes that the disk rejected must not reappear after the next start.
  await server.stop(random.below(2) === 0 ? "SIGKILL" : "SIGTERM");
}

async function recover(server: TestServer): Promise<void> {
  const drive = new Drive(server, "probe");
  const end = performance.now() + RECOVERY;
  for (let size = 100;; size = 300_000 - size) {
    const answer = await drive.send("POST", "/files?name=probe", { body: patternBytes(size) });
    if (answer.status === 201 && size > 1000) return;
    assert(
      performance.now() < end,
      `Still ${answer.status} after the disk works again: ${answer.text}\n${
        server.text.slice(-3000)
      }`,
    );
    await delay(50);
  }
}

/** Asserts that the server has exactly the files of the model. */
async function check(world: World, server: TestServer): Promise<void> {
  world.mayFail = false;
  world.servers = [server];
  await readAll(world);
  await assertCounts(world);
}

/** Returns the last lines that a server printed besides its request log. */
function errorsIn(text: string): string {
  return text.split("\n").filter((line) => !/"status":(?!500)|is malformed|disk I/.test(line))
    .slice(-20).join("\n");
}
