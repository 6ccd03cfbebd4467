import { assert, assertEquals, assertGreater } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED } from "../support/admin.ts";
import { assertSameBytes, KIB, MIB, patternBytes, PIECE } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { makeS3Key, S3_SECRET, s3Of } from "../support/s3/s3_server.ts";
import type { S3Key } from "../support/s3/signed.ts";
import { type ServerOptions, TestServer } from "../support/server.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { abortAll, sweepStore } from "./support/crash.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";
import { S3Client, tagOf, textOf } from "./support/s3_client.ts";

const BUCKET = "objects";
const WITH_S3: ServerOptions = {
  ...ADMINISTERED,
  args: ["--s3-port", "0"],
  env: { ...ADMINISTERED.env, ...S3_SECRET },
};
const STEPS = isFull() ? 400 : 60;
const ROUNDS = isFull() ? 40 : 4;
/** The longest time under load before a server is killed, in milliseconds. */
const MAX_LOAD_TIME = 2500;
const CLIENTS = 4;
/** The least size of a part that is not the last. */
const MIN_PART = 5 * MIB;

/** What an object may be: unknown until the answer to a change arrives. */
type Content = Uint8Array<ArrayBuffer> | undefined;

/** One client with names of its own, so that it knows what they have. */
class ObjectClient {
  readonly names: readonly string[];
  readonly #random: Random;
  readonly #contents = new Map<string, Content[]>();
  /** The entity tags that objects must have, where they are known. */
  readonly #tags = new Map<string, string>();
  #sources: readonly S3Client[] = [];
  #drives: readonly Drive[] = [];
  #seed = 0;

  constructor(number: number, random: Random) {
    this.names = [0, 1, 2].map((i) => `client-${number}/object-${i}`);
    this.#random = random;
  }

  /** Sets the servers that it uses. */
  use(clients: readonly S3Client[], servers: readonly TestServer[]): void {
    this.#sources = clients;
    this.#drives = servers.map((server) => new Drive(server, BUCKET));
  }

  /** Makes a random change, or reads. */
  async step(): Promise<void> {
    const name = this.#random.pick(this.names);
    const kind = this.#random.weighted({
      put: 4,
      drive: 2,
      multipart: 3,
      copy: 2,
      partCopy: 2,
      remove: 1,
      read: 6,
    });
    switch (kind) {
      case "put":
        return await this.#put(name);
      case "drive":
        return await this.#putByDrive(name);
      case "multipart":
        return await this.#sendParts(name);
      case "copy":
        return await this.#copy(name, this.#random.pick(this.names));
      case "partCopy":
        return await this.#copyParts(name, this.#random.pick(this.names));
      case "remove":
        return await this.#change(name, undefined, undefined, async () => {
          await this.#s3.ask("DELETE", name);
        });
      case "read":
        return await this.read(name);
    }
  }

  /** Reads an object over S3 and over the drive API, and parts of it. */
  async read(name: string): Promise<void> {
    const answer = await this.#s3.send("GET", name);
    const drive = await this.#drive.get(name);
    assertEquals(drive.status, answer.status, name);
    const possible = this.#contents.get(name) ?? [undefined];
    const { bytes } = answer;
    if (answer.status !== 200) {
      assert(answer.status === 404 && possible.includes(undefined), `${name}: ${answer.status}`);
      this.#contents.set(name, [undefined]);
      return;
    }
    assertSameBytes(drive.bytes, bytes, name);
    const content = possible.find((one) => one?.length === bytes.length);
    assert(content !== undefined, `${name} has ${bytes.length} bytes`);
    assertSameBytes(bytes, content, name);
    const tag = this.#tags.get(name);
    if (possible.length === 1 && tag !== undefined) {
      assertEquals(answer.headers.get("etag"), `"${tag}"`, name);
    }
    this.#contents.set(name, [content]);
    if (bytes.length > 1) await this.#readRange(name, content);
  }

  /** Reads a range around the end of a piece or of a part. */
  async #readRange(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
    const border = this.#random.pick([0, PIECE, MIN_PART, this.#random.below(content.length)]);
    const start = Math.max(0, Math.min(border - this.#random.below(10), content.length - 1));
    const end = Math.min(content.length, start + 1 + this.#random.below(3 * PIECE));
    const headers = { range: `bytes=${start}-${end - 1}` };
    const { bytes } = await this.#s3.ask("GET", name, { headers });
    assertSameBytes(bytes, content.subarray(start, end), `${name} from ${start} to ${end}`);
  }

  async #put(name: string): Promise<void> {
    const body = this.#body(this.#size());
    await this.#change(name, body, tagOf([body], false), async () => {
      await this.#s3.ask("PUT", name, { body });
    });
  }

  async #putByDrive(name: string): Promise<void> {
    const body = this.#body(this.#size());
    await this.#change(name, body, undefined, async () => void await this.#drive.put(name, body));
  }

  async #sendParts(name: string): Promise<void> {
    const count = 1 + this.#random.below(3);
    const parts = Array.from(
      { length: count },
      (_, i) => this.#body(i === count - 1 ? 1 + this.#size() : MIN_PART + this.#size() % 70_000),
    );
    const s3 = this.#s3;
    const id = await s3.start(name);
    const tags = new Map<number, string>();
    // In any order, with gaps between the numbers.
    for (const i of [...parts.keys()].reverse()) {
      const body = parts[i] ?? new Uint8Array();
      tags.set(i, await s3.sendPart(name, id, 3 * i + 2, { body }));
    }
    const body = await joined(parts);
    await this.#change(name, body, tagOf(parts, true), async () => {
      const named = parts.map((_, i) => [3 * i + 2, tags.get(i) ?? ""] as const);
      // The same by all servers at once.
      const clients = this.#random.below(3) === 0 ? [s3, ...this.#sources] : [s3];
      const answers = await Promise.all(clients.map((one) => one.complete(name, id, named)));
      for (const answer of answers) assertEquals(answer.status, 200, textOf(answer));
    });
  }

  async #copy(name: string, from: string): Promise<void> {
    const [content, ...others] = this.#contents.get(from) ?? [];
    if (content === undefined || others.length > 0 || name === from) return;
    await this.#change(name, content, this.#tags.get(from), async () => {
      await this.#s3.ask("PUT", name, { headers: { "x-amz-copy-source": `/${BUCKET}/${from}` } });
    });
  }

  async #copyParts(name: string, from: string): Promise<void> {
    const [content, ...others] = this.#contents.get(from) ?? [];
    if (content === undefined || others.length > 0 || content.length < 2) return;
    const s3 = this.#s3;
    const id = await s3.start(name);
    const end = 1 + this.#random.below(content.length - 1);
    const start = this.#random.below(end);
    const headers = {
      "x-amz-copy-source": `/${BUCKET}/${from}`,
      "x-amz-copy-source-range": `bytes=${start}-${end - 1}`,
    };
    const tag = await s3.sendPart(name, id, 9, { headers });
    const body = content.slice(start, end);
    await this.#change(name, body, tagOf([body], true), async () => {
      const answer = await s3.complete(name, id, [[9, tag]]);
      assertEquals(answer.status, 200, textOf(answer));
    });
  }

  async #change(
    name: string,
    content: Content,
    tag: string | undefined,
    change: () => Promise<void>,
  ): Promise<void> {
    this.#contents.set(name, [...this.#contents.get(name) ?? [undefined], content]);
    this.#tags.delete(name);
    await change();
    this.#contents.set(name, [content]);
    if (tag !== undefined) this.#tags.set(name, tag);
  }

  get #s3(): S3Client {
    return this.#random.pick(this.#sources);
  }

  get #drive(): Drive {
    return this.#random.pick(this.#drives);
  }

  #size(): number {
    const sizes = [0, 1, 100, PIECE - 1, PIECE, PIECE + 1, 300 * KIB, 3 * MIB + 7];
    return this.#random.pick(sizes) + this.#random.below(1000);
  }

  /** Bytes that no other object has. */
  #body(size: number): Uint8Array<ArrayBuffer> {
    return patternBytes(size, ++this.#seed + this.names.length * this.#random.below(1e6));
  }
}

async function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Blob([...parts]).arrayBuffer());
}

function makeClients(seed: number): ObjectClient[] {
  return Array.from({ length: CLIENTS }, (_, i) => new ObjectClient(i, new Random(seed + i)));
}

function useServers(
  clients: readonly ObjectClient[],
  servers: readonly TestServer[],
  key: S3Key,
): void {
  const sources = servers.map((server) => new S3Client(s3Of(server), key, BUCKET));
  for (const client of clients) client.use(sources, servers);
}

async function readAll(clients: readonly ObjectClient[]): Promise<void> {
  for (const client of clients) for (const name of client.names) await client.read(name);
}

/** After the end of all uploads and a sweep, the store has only its files. */
async function endAll(data: string): Promise<void> {
  await auditStore(data, false);
  {
    await using server = await TestServer.start({ ...WITH_S3, data });
    await abortAll(server, [BUCKET]);
    await server.stop();
  }
  await sweepStore(data);
  await auditStore(data, true);
}

Deno.test("Objects have the bytes that two servers were sent, by S3 and by the drive API.", async () => {
  const seed = announceSeed();
  await using folder = await Folder.make();
  {
    await using one = await TestServer.start({ ...WITH_S3, data: folder.path });
    await using two = await TestServer.start({ ...WITH_S3, data: folder.path });
    const key = await makeS3Key(one);
    await new S3Client(s3Of(one), key, BUCKET).ask("PUT", "");
    const clients = makeClients(seed);
    useServers(clients, [one, two], key);
    await Promise.all(clients.map(async (client) => {
      for (let i = 0; i < STEPS; i++) await client.step();
    }));
    await readAll(clients);
    await one.stop();
    await two.stop();
  }
  await endAll(folder.path);
});

Deno.test("After a kill every change by S3 is there completely or not at all.", async () => {
  const seed = announceSeed();
  await using folder = await Folder.make();
  const random = new Random(seed);
  const clients = makeClients(seed);
  let key: S3Key | undefined;
  let broken = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await using server = await TestServer.start({ ...WITH_S3, data: folder.path });
    if (key === undefined) {
      key = await makeS3Key(server);
      await new S3Client(s3Of(server), key, BUCKET).ask("PUT", "");
    }
    useServers(clients, [server], key);
    await readAll(clients);
    let isKilled = false;
    const load = clients.map(async (client) => {
      try {
        while (!isKilled) await client.step();
      } catch (error) {
        if (!isKilled) throw error;
        broken++;
      }
    });
    await delay(random.below(MAX_LOAD_TIME));
    isKilled = true;
    await server.stop("SIGKILL");
    await Promise.all(load);
    await auditStore(folder.path, false);
  }
  assertGreater(broken, 0, "No request was running when the server was killed");
  {
    await using server = await TestServer.start({ ...WITH_S3, data: folder.path });
    if (key !== undefined) useServers(clients, [server], key);
    await readAll(clients);
    await server.stop();
  }
  await endAll(folder.path);
});
