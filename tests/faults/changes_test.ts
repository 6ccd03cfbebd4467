import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, Project } from "../support/admin.ts";
import {
  type Change,
  type ChangePage,
  changesSince,
  EventStream,
  keepChanges,
  replayed,
} from "../support/store/changes.ts";
import { Folder } from "../support/command.ts";
import { Drive, query } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

/** Server processes on one store, and how often one of them is killed. */
const SERVERS = 2;
const KILLS = isFull() ? 20 : 4;

/** The time between two kills, in milliseconds. */
const LIFE = 2500;

const WRITERS = 6;
const POLLERS = 4;
const NAMES = Array.from({ length: 12 }, (_, i) => `folder ${i % 3}/file ${i}`);
const DRIVES = ["one", "two"];

/** What writers and readers share: servers that are killed and started again. */
class World implements AsyncDisposable {
  readonly servers: TestServer[] = [];
  /** Whether the writers are to end. */
  isOver = false;
  /** Each put has a size of its own, by which it is known. */
  #size = 0;
  /** The sizes of the puts that were answered. */
  readonly stored = new Set<number>();

  private constructor(readonly folder: Folder, readonly project: Project) {}

  static async start(): Promise<World> {
    const folder = await Folder.make();
    const first = await TestServer.start({ ...ADMINISTERED, data: folder.path });
    const project = await Project.make(first);
    await keepChanges(project, 7);
    const world = new World(folder, project);
    world.servers.push(first);
    while (world.servers.length < SERVERS) world.servers.push(await world.startServer());
    return world;
  }

  async startServer(): Promise<TestServer> {
    return await TestServer.start({ ...ADMINISTERED, data: this.folder.path });
  }

  /** Kills a server, and starts another one in its place. */
  async replace(index: number): Promise<void> {
    await this.servers[index]?.stop("SIGKILL");
    this.servers[index] = await this.startServer();
  }

  /** A drive, by one of the servers. */
  drive(random: Random, name: string): Drive {
    const server = random.pick(this.servers);
    const { id, key } = this.project;
    return new Drive(server, name, { project: id, key });
  }

  /** Stores a file of a size that no other one has. */
  async put(drive: Drive, name: string): Promise<void> {
    const size = ++this.#size;
    const body = new Uint8Array(size);
    const { status } = await drive.send("POST", `/files${query({ name })}`, { body });
    if (status === 201) this.stored.add(size);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.servers) await server[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

/** Ignores that a server was killed in the middle of a request. */
async function tolerant<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException) return undefined;
    throw error;
  }
}

async function write(world: World, random: Random): Promise<void> {
  while (!world.isOver) {
    const drive = world.drive(random, random.pick(DRIVES));
    const name = random.pick(NAMES);
    const body = { from: name, to: random.pick(NAMES), to_drive: random.pick(DRIVES) };
    const moved = JSON.stringify({ ...body, overwrite: true });
    const step = random.below(6);
    await tolerant(async () => {
      if (step < 3) return await world.put(drive, name);
      if (step === 3) await drive.delete([name]);
      else await drive.send("POST", `/files/${step === 4 ? "move" : "copy"}`, { body: moved });
    });
  }
}

/** Reads on with its last cursor, from any server, until the end. Returns what it was told of a drive. */
async function poll(world: World, random: Random, name: string): Promise<Change[]> {
  const told: Change[] = [];
  let since = "0";
  while (!isEnd(told.at(-1))) {
    const page = await tolerant(async () => {
      const parameters = { since, wait: random.below(3), limit: 1 + random.below(20) };
      const path = `/changes${query(parameters)}`;
      const answer = await world.drive(random, name).send("GET", path);
      return answer.status === 200 ? answer.json as ChangePage : undefined;
    });
    told.push(...page?.changes ?? []);
    since = page?.last ?? since;
    if (page === undefined) await delay(50);
  }
  return told;
}

/** Listens to a stream of events until the end, and connects again with the id of the last one. */
async function listen(world: World, random: Random, name: string): Promise<Change[]> {
  const told: Change[] = [];
  while (!isEnd(told.at(-1))) {
    await tolerant(async () => {
      const since = told.at(-1)?.id ?? "0";
      await using stream = EventStream.open(world.drive(random, name), { since });
      while (!isEnd(told.at(-1))) {
        const change = await stream.change();
        if (change === undefined) return;
        told.push(change);
      }
    });
  }
  return told;
}

/** The file that is stored when the writers have ended. */
const END = "the end";

function isEnd(change: Change | undefined): boolean {
  return change?.name === END;
}

Deno.test("Readers of the feed miss nothing and hear nothing twice while servers are killed.", async () => {
  await using world = await World.start();
  const seed = announceSeed();
  const random = (i: number) => new Random(seed + i);
  const writers = Array.from({ length: WRITERS }, (_, i) => write(world, random(i)));
  const readers = DRIVES.map((name, d) => [
    ...Array.from({ length: POLLERS }, (_, i) => poll(world, random(100 + 10 * d + i), name)),
    listen(world, random(200 + d), name),
  ]);
  for (let kill = 0; kill < KILLS; kill++) {
    await delay(LIFE);
    await world.replace(kill % SERVERS);
  }
  await delay(LIFE);
  world.isOver = true;
  await Promise.all(writers);
  for (const name of DRIVES) await world.drive(random(300), name).put(END, "");
  const sizes: number[] = [];
  for (const [d, name] of DRIVES.entries()) {
    const drive = world.drive(random(400), name);
    const all = await changesSince(drive);
    const ids = all.map(({ id }) => id);
    assertEquals(new Set(ids).size, ids.length);
    for (const reader of readers[d] ?? []) assertEquals(await reader, all);
    await assertAsListed(drive, all);
    sizes.push(...all.filter(isUpload).map(({ size = -1 }) => size));
  }
  const missing = [...world.stored].filter((size) => !sizes.includes(size));
  assertEquals(missing, [], "puts that were answered and not told");
});

/** Whether it is a put of a body, or a copy of one. */
function isUpload({ type, size = 0 }: Change): boolean {
  return type === "put" && size > 0;
}

/** Fails if the changes do not lead to the files of a drive. */
async function assertAsListed(drive: Drive, changes: readonly Change[]): Promise<void> {
  const answer = (await drive.send("GET", "/files?details=true")).expect(200);
  const { files } = answer.json as { files: { name: string; etag: string }[] };
  const listed = new Map(files.map(({ name, etag }) => [name, etag]));
  assertEquals(replayed(changes), listed);
}
