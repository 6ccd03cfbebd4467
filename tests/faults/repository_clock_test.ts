/** Snapshots whose clock is an hour ahead or behind, or jumps while a server takes them. */
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, administrator } from "../support/admin.ts";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { S3Server } from "../support/s3/s3_server.ts";
import { TestServer } from "../support/server.ts";
import { FakeClock, HOUR } from "./support/clock.ts";
import { runProgram } from "./support/program_run.ts";

const DRIVE = "drive";

interface Listed {
  id: string;
}

interface Status {
  warnings: string[];
  snapshots: { failures: number };
}

/** Runs a command that has to succeed. */
async function run(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await runProgram(args, env);
  assertEquals(code, 0, stderr);
  return stdout;
}

/** @param to The target, and options. */
async function listed(to: string[], env: Record<string, string> = {}): Promise<Listed[]> {
  return JSON.parse(await run(["backup", "list", "--to", ...to, "--json"], env)) as Listed[];
}

/** Changes the only file of a store. */
async function write(data: string, text: string): Promise<void> {
  await using server = await TestServer.start({ data });
  await new Drive(server, DRIVE).put("file", text);
  await server.stop();
}

/** The file in the newest snapshot. */
async function newestText(from: string[], env: Record<string, string> = {}): Promise<string> {
  const file = ["--drive", DRIVE, "--file", "file", "--output", "-"];
  return await run(["restore", "--from", ...from, ...file], env);
}

for (const [before, after] of [[HOUR, 0], [0, -HOUR]] as const) {
  Deno.test(`The last snapshot is the newest, with the clock first at ${before} and then at ${after} ms.`, async () => {
    await using folder = await Folder.make();
    await using clock = await FakeClock.make();
    const [data, repo] = [folder.at("data"), folder.at("repo")];
    const take = async (text: string, offset: number) => {
      await write(data, text);
      await clock.set(offset);
      await run(["backup", "--to", repo, "--data", data], clock.env);
    };
    await take("first", before);
    await take("second", after);
    assertEquals(await newestText([repo]), "second");
    const [, second] = await listed([repo]);
    await run(["backup", "prune", "--to", repo, "--keep-last", "1", "--keep-hourly", "1"]);
    assertEquals((await listed([repo])).map(({ id }) => id), [second?.id]);
    assertEquals(await newestText([repo]), "second");
    await run(["backup", "check", "--to", repo, "--read-all"]);
  });
}

Deno.test("A clock that jumps stops no schedule, hastens none, and loses no snapshot.", async () => {
  await using folder = await Folder.make();
  await assertScheduleHolds({ target: folder.at("repo"), options: [], env: {} });
});

Deno.test("The same with a target in S3, which refuses requests of another hour.", async () => {
  await using s3 = await S3Server.start();
  await new Drive(s3.server, "bucket").put("other", "x");
  await assertScheduleHolds({
    target: "s3://bucket/backups",
    options: ["s3-endpoint", s3.s3],
    env: {
      AWS_ACCESS_KEY_ID: s3.key.access_key_id,
      AWS_SECRET_ACCESS_KEY: s3.key.secret_access_key,
      KVDRIVE_BACKUP_PASSPHRASE: "a passphrase",
    },
  });
});

/** Where snapshots go, and the options of commands without the two dashes. */
interface Place {
  target: string;
  options: string[];
  env: Record<string, string>;
}

/** Waits until no snapshot is overdue: on a slow machine one takes longer than an interval. Returns the status. */
async function untilOnTime(server: TestServer): Promise<Status> {
  for (const end = performance.now() + 60_000;; await delay(50)) {
    const answer = await fetch(`${server.origin}/admin/v1/status`, { headers: administrator });
    const status = await answer.json() as Status;
    if (status.warnings.length === 0 || performance.now() > end) return status;
  }
}

async function assertScheduleHolds({ target, options, env }: Place): Promise<void> {
  await using clock = await FakeClock.make();
  const ofCommands = [target, ...options.map((word, i) => i % 2 === 0 ? `--${word}` : word)];
  const ofServer = options.map((word, i) => i % 2 === 0 ? `--backup-${word}` : word);
  const every = ["--backup-every", "2s", "--backup-keep-last", "4"];
  await using server = await TestServer.start({
    args: ["--backup-to", target, ...ofServer, ...every],
    env: { ...ADMINISTERED.env, ...clock.env, ...env },
  });
  const drive = new Drive(server, DRIVE);
  for (const [round, offset] of [0, HOUR, 0, -HOUR, 0].entries()) {
    await clock.set(offset);
    const text = `round ${round}`;
    await drive.put("file", text);
    const began = performance.now();
    const seen = new Set<string>();
    let isNewest = false;
    while (!isNewest || seen.size < 3) {
      const elapsed = performance.now() - began;
      assert(elapsed < 180_000, `There are ${seen.size} snapshots in round ${round}`);
      await delay(200);
      // The first one makes the repository.
      const now = await listed(ofCommands, env).catch(() => []);
      const last = now.at(-1);
      if (last !== undefined) seen.add(last.id);
      isNewest ||= seen.size > 1 && await newestText(ofCommands, env) === text;
    }
    // One is old, and one is due at once.
    assert(performance.now() - began > 2000 * (seen.size - 3), `Too many in round ${round}`);
  }
  const status = await untilOnTime(server);
  assertEquals([status.warnings, status.snapshots.failures], [[], 0]);
  await server.stop();
  await run(["backup", "check", "--to", ...ofCommands, "--read-all"], env);
}
