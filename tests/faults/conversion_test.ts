import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { assertRefused, Folder, namesIn, runCommand, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { byteFileOf, entriesIn, recordFileOf } from "./support/store_files.ts";
import { SmallDisk } from "./support/disk.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const DRIVE = "drive";

/** Conversions that are killed. */
const KILLS = isFull() ? 100 : 12;

/** What a conversion may need beside the store: a part of its size, and a number of bytes. */
const EXTRA_SHARE = 0.1;
const EXTRA_BYTES = 100 * MIB;

/** What a server says when it begins to convert. */
const BEGIN = /The bytes of files move to a file of their own/;
const END = /All bytes of files have moved/;

/** The files of a store, by their sizes in MiB and a seed. */
type Sizes = readonly number[];

function fileOf(size: number, i: number): [name: string, bytes: Uint8Array<ArrayBuffer>] {
  return [`f${i}`, patternBytes(size * MIB, i + 1)];
}

/** Makes a store in one file, as a version before the second file left it and as a backup is. */
async function makeOneFile(path: string, sizes: Sizes): Promise<void> {
  await using folder = await Folder.make();
  await using server = await TestServer.start({ data: folder.at("data") });
  const drive = new Drive(server, DRIVE);
  for (const [i, size] of sizes.entries()) await drive.put(...fileOf(size, i));
  await drive.put("note", "a note");
  await new StoreCommands(server.data).text("backup", path);
  await server.stop();
}

async function assertWhole(data: string, sizes: Sizes): Promise<void> {
  {
    await using server = await TestServer.start({ data });
    const drive = new Drive(server, DRIVE);
    assertEquals(await drive.text("note"), "a note");
    for (const [i, size] of sizes.entries()) {
      const [name, bytes] = fileOf(size, i);
      assertSameBytes((await drive.get(name)).expect(200).bytes, bytes, name);
    }
    await server.stop();
  }
  const verdict = await new StoreCommands(data).text("verify");
  assertMatch(verdict, new RegExp(`^No problems found: ${sizes.length + 1} files`));
}

/** Checks the store of a stopped server, and that a backup of it is whole. */
async function assertBackUp(data: string, folder: Folder, sizes: Sizes): Promise<void> {
  const commands = new StoreCommands(data);
  const isClean = new RegExp(`^No problems found: ${sizes.length + 1} files`);
  assertMatch(await commands.text("verify"), isClean);
  const file = folder.at("copy.db");
  await commands.text("backup", file);
  // A backup is one file, as the store was at first, and is checked before it gets its name.
  assertEquals(
    entriesIn(file).split("\n").length,
    entriesIn(folder.at("original.db")).split("\n").length,
  );
  await Deno.remove(file);
}

/** The bytes of the files in a folder, without what a server reserves for a full disk. */
async function sizeOf(data: string): Promise<number> {
  let sum = 0;
  for (const name of await namesIn(data)) {
    if (name.startsWith("kvdrive.ballast-")) continue;
    try {
      sum += (await Deno.stat(`${data}/${name}`)).size;
    } catch (error) {
      // SQLite has removed a log.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return sum;
}

/** A server that may be killed before it listens, and the largest size of its folder. */
class Starting {
  largest = 0;
  text = "";
  readonly began = Promise.withResolvers<void>();
  readonly #process: Deno.ChildProcess;
  readonly #ended: Promise<unknown>;
  #isRunning = true;

  constructor(data: string) {
    this.#process = spawnProgram(["serve", "--port", "0", "--data", data], {});
    this.#ended = Promise.all([
      this.#read(this.#process.stdout),
      this.#read(this.#process.stderr),
      this.#watch(data),
    ]);
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      this.text += piece;
      if (BEGIN.test(this.text)) this.began.resolve();
    }
    this.#isRunning = false;
    this.began.resolve();
  }

  async #watch(data: string): Promise<void> {
    while (this.#isRunning) {
      this.largest = Math.max(this.largest, await sizeOf(data));
      await delay(5);
    }
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#ended;
  }
}

Deno.test("A conversion to two files that is killed again and again loses nothing, and needs little space.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const sizes = Array.from({ length: 35 }, (_, i) => i % 5 === 4 ? 0.1 : 10);
  const original = folder.at("original.db");
  await makeOneFile(original, sizes);
  const bound = (await Deno.stat(original)).size * (1 + EXTRA_SHARE) + EXTRA_BYTES;
  let longest = 1000;
  let inConversion = 0;
  for (let kills = 0, conversions = 0; kills < KILLS || inConversion === 0; conversions++) {
    const data = folder.at(`data-${conversions}`);
    await Deno.mkdir(data);
    await Deno.copyFile(original, recordFileOf(data));
    for (let isOver = false; !isOver && kills < KILLS; kills++) {
      const began = performance.now();
      const server = new Starting(data);
      // Some are killed before they convert anything.
      if (kills % 5 === 0) await delay(random.below(800));
      else {
        await server.began.promise;
        await delay(random.below(longest / 4));
      }
      await server.kill();
      isOver = END.test(server.text);
      // Between two starts the store can be checked and backed up, although its bytes are in two places.
      if (kills % 7 === 3) await assertBackUp(data, folder, sizes);
      if (isOver) longest = Math.min(longest, performance.now() - began);
      else if (BEGIN.test(server.text)) inConversion++;
      assert(server.largest <= bound, `${server.largest} bytes, more than ${bound}`);
    }
    await assertWhole(data, sizes);
    assertGreater((await Deno.stat(byteFileOf(data) ?? "")).size, 280 * MIB);
    assert((await Deno.stat(recordFileOf(data))).size < MIB);
    await Deno.remove(data, { recursive: true });
  }
  assertGreater(inConversion, KILLS / 3);
});

Deno.test("Below the disk reserve a conversion is refused and changes nothing, and goes on with space.", async () => {
  await using disk = await SmallDisk.mount(400 * MIB);
  // Without the right to mount one there is no small disk.
  if (disk === undefined) return;
  await using folder = await Folder.make();
  const sizes = Array.from({ length: 16 }, () => 10);
  const original = folder.at("original.db");
  await makeOneFile(original, sizes);
  const data = `${disk.path}/data`;
  await Deno.mkdir(data);
  await Deno.copyFile(original, recordFileOf(data));
  const before = entriesIn(recordFileOf(data));
  // What is free is less than the reserve and what moves at once.
  const free = await disk.free();
  const reserve = free - 40 * MIB;
  const serve = ["serve", "--port", "0", "--data", data, "--disk-reserve", String(reserve)];
  const refused = await runCommand(serve);
  assertRefused(
    { ...refused, stderr: lastLine(refused.stderr) },
    1,
    /the disk needs .* free and has .*; free some space and start again/,
  );
  assertEquals(entriesIn(recordFileOf(data)), before);
  assertEquals(byteFileOf(data), undefined);
  assertMatch(await new StoreCommands(data).text("verify"), /^No problems found: 17 files/);
  await disk.grow(600 * MIB);
  {
    await using server = await TestServer.start({
      data,
      args: ["--disk-reserve", String(reserve)],
    });
    assertMatch(server.text, END);
    await server.stop();
  }
  await assertWhole(data, sizes);
});

function lastLine(text: string): string {
  return `${text.trimEnd().split("\n").at(-1)}\n`;
}
