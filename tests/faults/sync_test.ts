import { assert, assertEquals, assertGreater } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { delay } from "@std/async/delay";
import { RunningCommand, someBytes } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { Folder } from "../support/command.ts";
import { PROJECT_KEY, TestServer } from "../support/server.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";
import { unusedPort } from "../support/processes/ports.ts";

const ROUNDS = isFull() ? 100 : 8;
/** Rounds between two comparisons of all trees. */
const COMPARE_EVERY = 4;
/** The latest moment at which the first commands are killed, in milliseconds after their start. */
const MAX_RUN_TIME = 900;
/** The longest time that the server takes for a request beyond its own, in milliseconds. */
const MAX_SLOWNESS = 40;
const FOLDERS = ["", "a/", "a/b/", "c d/", "é😀/"];
const LARGE = 11_000_000;

Deno.test("A sync that is killed at random moments, against a server that dies, ends with equal trees.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  await using world = await SyncWorld.open(folder, random);
  for (let round = 1; round <= ROUNDS; round++) {
    await world.change(round);
    const commands = [world.start("up"), world.start("down")];
    if (random.below(3) === 0) await world.killServer();
    await Promise.all(commands.map(async (command) => {
      await delay(random.below(world.latestKill));
      await command.kill();
    }));
    await world.requireWholeFiles();
    if (round % COMPARE_EVERY === 0) await world.requireEqual();
  }
  assertGreater(world.killed, ROUNDS / 2, "Too few commands were running when they were killed");
});

/** A folder that changes, a drive that is made like it, and a folder that is made like the drive. */
class SyncWorld implements AsyncDisposable {
  /** Commands that were killed before their end. */
  killed = 0;
  /** The latest moment at which a command is killed: earlier on machines where commands end before. Milliseconds. */
  latestKill = MAX_RUN_TIME;
  #server: TestServer;
  readonly #folder: Folder;
  readonly #proxy: Proxy;
  readonly #random: Random;

  private constructor(folder: Folder, server: TestServer, proxy: Proxy, random: Random) {
    this.#folder = folder;
    this.#server = server;
    this.#proxy = proxy;
    this.#random = random;
    proxy.intercept = async (_request, pass) => {
      await delay(random.below(MAX_SLOWNESS));
      return await pass();
    };
  }

  static async open(folder: Folder, random: Random): Promise<SyncWorld> {
    for (const name of ["here", "there"]) await Deno.mkdir(folder.at(name));
    const server = await TestServer.start({
      data: folder.at("data"),
      fixedPort: unusedPort(),
    });
    return new SyncWorld(folder, server, Proxy.start(server.origin), random);
  }

  /** Writes, replaces and deletes files and folders. One file is in parts. */
  async change(round: number): Promise<void> {
    for (const folder of FOLDERS) {
      await Deno.mkdir(this.#folder.at(`here/${folder}`), { recursive: true });
      for (let i = 0; i < 12; i++) {
        const path = this.#folder.at(`here/${folder}f${this.#random.below(30)}`);
        if (this.#random.below(4) === 0) await Deno.remove(path).catch(() => {});
        else await this.#write(path, this.#random.below(3000));
      }
    }
    await Deno.mkdir(this.#folder.at(`here/empty/${round}`), { recursive: true });
    if (round % 3 === 0) await Deno.remove(this.#folder.at("here/a"), { recursive: true });
    if (round % 4 === 1) await this.#write(this.#folder.at("here/large"), LARGE);
  }

  /** Starts a command of the sources in a process of its own. */
  start(direction: "up" | "down"): { kill: () => Promise<void> } {
    const command = this.#command(direction);
    let hasEnded = false;
    const ended = command.finished().then((result) => {
      hasEnded = true;
      return result;
    });
    return {
      kill: async () => {
        if (hasEnded) this.latestKill = Math.ceil(this.latestKill * 0.7);
        else {
          this.killed++;
          this.latestKill = Math.min(MAX_RUN_TIME, Math.ceil(this.latestKill * 1.2));
          await command.kill();
        }
        await ended;
      },
    };
  }

  async killServer(): Promise<void> {
    const { port } = this.#server;
    await delay(this.#random.below(MAX_RUN_TIME / 2));
    this.#server.process.kill("SIGKILL");
    await this.#server.process.status;
    this.#server = await TestServer.start({ data: this.#folder.at("data"), fixedPort: port });
  }

  /** Checks that each file of the copy is a complete version of some file. */
  async requireWholeFiles(): Promise<void> {
    for (const [name, bytes] of await treeOf(this.#folder.at("there"))) {
      if (name.endsWith("/") || /\.kvdrive-\w+\.part$/.test(name)) continue;
      const [size] = new TextDecoder().decode(bytes.subarray(0, 9)).split(" ");
      assertEquals(Number(size), bytes.byteLength, `${name} is not complete`);
    }
  }

  /** Lets both commands run to their ends, and checks that all trees are the same and that nothing more is to be done. */
  async requireEqual(): Promise<void> {
    for (const direction of ["up", "down"] as const) {
      const { code, stderr } = await this.#command(direction).finished();
      assertEquals(code, 0, stderr);
    }
    const [here, there] = await Promise.all(
      ["here", "there"].map((name) => treeOf(this.#folder.at(name))),
    );
    assertEquals([...there?.keys() ?? []], [...here?.keys() ?? []]);
    for (const [name, bytes] of here ?? []) {
      assert(equals(bytes, there?.get(name) ?? new Uint8Array()), name);
    }
    for (const direction of ["up", "down"] as const) {
      const { stdout } = await this.#command(direction).finished();
      assert(/^Transferred 0 files \(0 B\); \d+ files up to date\n$/.test(stdout), stdout);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
  }

  #command(direction: "up" | "down"): RunningCommand {
    const ends = direction === "up" ? ["here", "d:x"] : ["d:x", "there"];
    const env = {
      KVDRIVE_URL: this.#proxy.origin,
      KVDRIVE_KEY: PROJECT_KEY,
      XDG_STATE_HOME: this.#folder.at("state"),
    };
    const args = ["sync", ...ends, "--delete"];
    return new RunningCommand(args, env, this.#folder.path, undefined);
  }

  /** Writes a file that begins with its size. */
  async #write(path: string, more: number): Promise<void> {
    const size = 9 + more;
    const bytes = someBytes(size, 1 + this.#random.below(1e9));
    bytes.set(new TextEncoder().encode(`${size} `.padEnd(9)));
    await Deno.writeFile(path, bytes);
  }
}

/** The files below a folder, and the folders with a slash, by their names. */
async function treeOf(root: string, at = ""): Promise<Map<string, Uint8Array>> {
  const tree = new Map<string, Uint8Array>();
  for await (const { name, isDirectory } of Deno.readDir(`${root}/${at}`)) {
    const path = at + name;
    if (!isDirectory) tree.set(path, await Deno.readFile(`${root}/${path}`));
    else {
      tree.set(`${path}/`, new Uint8Array());
      for (const one of await treeOf(root, `${path}/`)) tree.set(...one);
    }
  }
  return new Map([...tree].sort(([a], [b]) => a < b ? -1 : 1));
}
