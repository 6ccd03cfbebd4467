import { DataWriter } from "../../repository/data_object.ts";
import type { Repository } from "../../repository/repository.ts";
import type { Bytes } from "../../repository/bytes.ts";
import type { ObjectRef, TreeEntry } from "../../repository/tree.ts";
import { Semaphore } from "../../rules/concurrency.ts";
import { RateLimiter } from "../../rules/transfer/rate_limiter.ts";
import type { Group } from "./groups.ts";

/** Objects of data that are on their way while the next one is filled. */
const SENDING = 1;

/** Sends new groups, many in one object, and whatever else a snapshot stores. */
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
  async add({ key, fingerprint, isCompressed, write }: Group): Promise<{
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
