/** Prunes that rewrite objects: beside restores, checks and snapshots, and killed at any moment. */
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, patternBytes } from "../support/bytes.ts";
import { Folder, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { sweepStore } from "./support/crash.ts";
import { runAround, runProgram } from "./support/program_run.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const DRIVE = "drive";
const FILES = 120;
const FILE_SIZE = 100_000;

/** One of so many files stays while the others change. */
const STAYS = 5;

type Contents = Map<string, Uint8Array<ArrayBuffer>>;

/** Runs a command that has to succeed. */
async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(args);
  assertEquals(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
}

async function write(data: string, contents: Contents): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  for (const [name, bytes] of contents) await drive.put(name, bytes);
  await server.stop();
}

async function assertContents(data: string, contents: Contents): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  for (const [name, bytes] of contents) assertSameBytes((await drive.get(name)).bytes, bytes, name);
  await server.stop();
}

/** Makes a repository of two snapshots: of the objects of the first one, the second needs a fifth. */
async function makeRepository(data: string, repo: string): Promise<Contents> {
  const contents: Contents = new Map();
  for (let i = 0; i < FILES; i++) contents.set(`file-${i}`, patternBytes(FILE_SIZE, i));
  await write(data, contents);
  await run("backup", "--to", repo, "--data", data);
  const changed: Contents = new Map();
  for (let i = 0; i < FILES; i++) {
    if (i % STAYS !== 0) changed.set(`file-${i}`, patternBytes(100, i));
  }
  await write(data, changed);
  await sweepStore(data);
  await run("backup", "--to", repo, "--data", data);
  for (const [name, bytes] of changed) contents.set(name, bytes);
  return contents;
}

async function bytesIn(folder: string): Promise<number> {
  let sum = 0;
  for await (const { name } of Deno.readDir(folder)) {
    sum += (await Deno.stat(`${folder}/${name}`)).size;
  }
  return sum;
}

Deno.test("A restore beside a prune that rewrites objects goes on with the new ones.", async () => {
  await using folder = await Folder.make();
  const [data, repo, restored] = [folder.at("data"), folder.at("repo"), folder.at("restored")];
  const contents = await makeRepository(data, repo);
  const restore = ["restore", "--from", repo, "--data", restored, "--bandwidth", "2MB"];
  const { code, stderr } = await runAround(
    restore,
    () => folder.has("restored/.kvdrive-restore/plan.db"),
    async () => {
      const prune = await run("backup", "prune", "--to", repo, "--keep-last", "1", "--json");
      const { bytes } = JSON.parse(prune) as { bytes: number };
      assert(bytes > 0.7 * FILES * FILE_SIZE, prune);
    },
  );
  assertEquals(code, 0, stderr);
  await assertContents(restored, contents);
  await run("verify", "--data", restored);
});

Deno.test("A restore that was interrupted before a prune rewrote objects goes on.", async () => {
  await using folder = await Folder.make();
  const [data, repo, restored] = [folder.at("data"), folder.at("repo"), folder.at("restored")];
  const contents = await makeRepository(data, repo);
  const restore = ["restore", "--from", repo, "--data", restored];
  // It would take 12 s.
  const process = spawnProgram([...restore, "--bandwidth", "200kB"], {});
  while (!await folder.has("restored/.kvdrive-restore/plan.db")) await delay(20);
  await delay(1000);
  process.kill("SIGKILL");
  await process.status;
  await run("backup", "prune", "--to", repo, "--keep-last", "1");
  await run(...restore);
  await assertContents(restored, contents);
  await run("verify", "--data", restored);
});

Deno.test("Prunes that are killed leave snapshots whole, and the next one frees the space.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const [data, repo] = [folder.at("data"), folder.at("repo")];
  const contents = await makeRepository(data, repo);
  const file = ["--drive", DRIVE, "--file", "file-0", "--output", folder.at("file-0"), "--force"];
  const rounds = isFull() ? 40 : 4;
  for (let round = 0; round < rounds; round++) {
    const prune = spawnProgram(["backup", "prune", "--to", repo, "--keep-last", "2"], {});
    const beside = [
      runProgram(["restore", "--from", repo, ...file]),
      runProgram(["backup", "check", "--to", repo, "--read-all"]),
    ];
    await delay(random.below(2000));
    try {
      prune.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await prune.status;
    for (const { code, stderr } of await Promise.all(beside)) assertEquals(code, 0, stderr);
    assertSameBytes(await Deno.readFile(folder.at("file-0")), patternBytes(FILE_SIZE, 0));
    const changed = new Map([[`file-${round % FILES}`, patternBytes(FILE_SIZE, round)]]);
    if (round % FILES === 0) changed.clear();
    for (const [name, bytes] of changed) contents.set(name, bytes);
    await write(data, changed);
    await run("backup", "--to", repo, "--data", data);
    await run("backup", "check", "--to", repo, "--read-all");
  }
  await run("backup", "prune", "--to", repo, "--keep-last", "1");
  await run("backup", "check", "--to", repo, "--read-all");
  const large = contents.values().filter(({ length }) => length === FILE_SIZE).toArray().length;
  const stored = await bytesIn(`${repo}/data`);
  assert(stored < 2 * large * FILE_SIZE + 500_000, `${stored} bytes for ${large} files`);
  await run("restore", "--from", repo, "--data", folder.at("restored"));
  await assertContents(folder.at("restored"), contents);
});
