import { RateLimiter, Semaphore } from "../rules/concurrency.ts";
import type { Bytes, ByteWriter } from "./bytes.ts";
import { DataWriter, pack } from "./data_object.ts";
import { encodeManifest, type Manifest } from "./manifest.ts";
import type { Repository } from "./repository.ts";
import type { ObjectRef, TreeEntry } from "./tree.ts";

/** A group that is sent. */
export interface SentGroup {
  /** Its place in the tree. */
  key: Bytes;
  fingerprint: Bytes;
  /** Whether its bytes are worth compressing. */
  isCompressed: boolean;
  /** Writes its bytes. Valid until the next group. */
  write: (writer: ByteWriter) => void;
}

/** Objects of data that are on their way while the next one is filled. */
const SENDING = 1;

/** Sends new groups, many in one object, and the other objects of a snapshot. */
export class GroupSender {
  /** Bytes that were sent. */
  sent = 0;
  readonly #slots = new Semaphore(SENDING);
  readonly #limiter: RateLimiter | undefined;
  readonly #spare: DataWriter[] = [];
  #writer: DataWriter;
  #isCompressed = false;
  #stored = Promise.withResolvers<ObjectRef>();
  readonly #running = new Set<Promise<unknown>>();
  #failure: { error: unknown } | undefined;

  /** @param bandwidth Bytes a second; `undefined` for no limit. */
  constructor(private readonly repository: Repository, bandwidth?: number) {
    this.#writer = new DataWriter(repository.sealer);
    this.#limiter = bandwidth === undefined ? undefined : new RateLimiter(bandwidth);
  }

  /** Adds a group. @returns Its entry, once its object is stored. */
  async add({ key, fingerprint, isCompressed, write }: SentGroup): Promise<{
    entry: Promise<TreeEntry>;
  }> {
    if (this.#isCompressed !== isCompressed) await this.#flush();
    this.#isCompressed = isCompressed;
    const ordinal = this.#writer.add(fingerprint, write);
    const entry = this.#stored.promise.then((object) => ({ key, fingerprint, object, ordinal }));
    entry.catch(() => {});
    if (this.#writer.isFull) await this.#flush();
    return { entry };
  }

  /** Stores everything that was added. @throws what the target throws. */
  async finish(): Promise<void> {
    await this.#flush();
    await Promise.all(this.#running);
    this.#throwFailure();
  }

  /** Sends an object at the permitted rate. */
  async send(kind: "data" | "index" | "snapshot", bytes: Bytes): Promise<ObjectRef> {
    await this.#limiter?.take(bytes.byteLength);
    const object = await this.repository.store(kind, bytes);
    this.sent += bytes.byteLength;
    return object;
  }

  /** Sends a node of a tree. @param bytes As `encodeNode` returns them. */
  async sendNode(bytes: Bytes): Promise<ObjectRef> {
    return await this.send("index", this.repository.sealer.seal("index", await pack(bytes)));
  }

  /** Sends the manifest of a snapshot. */
  async sendManifest(manifest: Manifest): Promise<ObjectRef> {
    const sealed = this.repository.sealer.seal("snapshot", encodeManifest(manifest));
    return await this.send("snapshot", sealed);
  }

  async #flush(): Promise<void> {
    if (this.#writer.isEmpty) return;
    const release = await this.#slots.acquire();
    this.#throwFailure();
    const [writer, { resolve, reject }] = [this.#writer, this.#stored];
    const isCompressed = this.#isCompressed;
    this.#writer = this.#spare.pop() ?? new DataWriter(this.repository.sealer);
    this.#stored = Promise.withResolvers();
    const storing = this.#store(writer, isCompressed)
      .then(resolve, (error) => {
        this.#failure ??= { error };
        reject(error);
      })
      .finally(release);
    this.#running.add(storing);
    storing.finally(() => this.#running.delete(storing));
  }

  async #store(writer: DataWriter, isCompressed: boolean): Promise<ObjectRef> {
    const object = await this.send("data", await writer.seal(isCompressed));
    writer.clear();
    this.#spare.push(writer);
    return object;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
