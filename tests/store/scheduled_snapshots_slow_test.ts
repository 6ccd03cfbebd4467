import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, administrator } from "../support/admin.ts";
import { Folder, runCommand } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";

interface Snapshots {
  target: string;
  newest: string | null;
  next: string | null;
  every: number;
  files: number | null;
  failures: number;
  problem: string | null;
}

interface Status {
  backups: unknown;
  snapshots: Snapshots | null;
  warnings: string[];
}

async function statusOf(server: TestServer): Promise<Status> {
  const answer = await fetch(`${server.origin}/admin/v1/status`, { headers: administrator });
  return await answer.json() as Status;
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!await isTrue()) {
    assert(performance.now() < end, what);
    await delay(100);
  }
}

async function snapshotsIn(repo: string): Promise<{ id: string }[]> {
  const { stdout } = await runCommand(["backup", "list", "--to", repo, "--json"]);
  return stdout === "" ? [] : JSON.parse(stdout) as { id: string }[];
}

Deno.test("A server takes snapshots, prunes them, and tells about both.", async () => {
  await using folder = await Folder.make();
  const [repo, real, data] = [folder.at("repo"), folder.at("real"), folder.at("data")];
  // A link is replaced at once: a server that finds nothing would make a new repository.
  await Deno.mkdir(real);
  await Deno.symlink(real, repo);
  await using server = await TestServer.start({
    ...ADMINISTERED,
    data,
    args: ["--backup-to", repo, "--backup-every", "1s", "--backup-keep-last", "2"],
  });
  await new Drive(server, "photos").put("one", "first");
  await until("There are two snapshots", async () => (await snapshotsIn(repo)).length >= 2);
  // On a slow machine a snapshot takes longer than an interval, and is overdue meanwhile.
  let status = await statusOf(server);
  await until("The file is in the newest, which is not overdue", async () => {
    status = await statusOf(server);
    return status.snapshots?.files === 1 && status.warnings.length === 0;
  });
  const { backups, snapshots } = status;
  assertEquals(backups, null);
  assert(snapshots !== null && snapshots.newest !== null && snapshots.next !== null);
  assertEquals([snapshots.target, snapshots.every, snapshots.problem], [repo, 1, null]);
  const metrics = await fetch(`${server.origin}/metrics`, { headers: administrator });
  assertMatch(await metrics.text(), /^kvdrive_backup_failures_total\{kind="snapshots"\} 0$/m);
  await until("Old ones are pruned", async () => {
    const before = await snapshotsIn(repo);
    await delay(2500);
    const after = await snapshotsIn(repo);
    return before.length <= 3 && after.length <= 3 && before[0]?.id !== after[0]?.id;
  });
  // A target that fails is reported, and used again.
  await Deno.rename(await folder.write("no-folder", ""), repo);
  await until("The failure is known", async () => {
    return /The last backup failed: Cannot/.test((await statusOf(server)).warnings.join());
  });
  assertEquals((await new Drive(server, "photos").get("one")).text, "first");
  await Deno.symlink(real, folder.at("link"));
  await Deno.rename(folder.at("link"), repo);
  await until("All is well again", async () => {
    return (await statusOf(server)).snapshots?.problem === null;
  });
  await server.stop();
  const restored = await runCommand(["restore", "--from", repo, "--data", folder.at("restored")]);
  assertEquals([restored.code, restored.stderr], [0, ""]);
});

Deno.test("Options of snapshots that make no sense are refused.", async () => {
  const refused = async (says: RegExp, ...args: string[]) => {
    const run = await runCommand(["serve", "--port", "0", ...args]);
    assert(run.code !== 0);
    assertMatch(run.stderr, says);
  };
  await refused(/needs a repository/, "--backup-every", "1h");
  await refused(/needs a repository/, "--backup-keep-daily", "1");
  await refused(/access key/, "--backup-to", "s3://bucket/prefix");
});
