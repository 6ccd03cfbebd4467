import { setImmediate } from "node:timers";
import { StoreFull } from "../disk/disk_space.ts";
import type { Commits, Outcome } from "./commits.ts";
import { StoreUnavailable } from "./errors.ts";
import { identityOf } from "./keys.ts";
import { Operation } from "./operation.ts";
import { type KvReader, readMany } from "../reads/read_queue.ts";

/** Size of a group of small operations, in bytes. */
export const MAX_GROUP_BYTES = 700_000;

interface Waiting {
  operation: Operation;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** Operations that are committed as one. */
interface Group {
  merged: Operation;
  members: readonly Waiting[];
}

/**
 * Merges small operations that wait at the same time into one commit, because each commit costs a sync of the disk.
 * Every caller gets the outcome that its operation would have had alone.
 *
 * A group that is refused has changed nothing. The members whose checks fail are found by reading, get their refusal,
 * and the others are committed again as a group.
 */
export class GroupCommitter {
  readonly #queue: Waiting[] = [];
  #running = 0;
  #isStarting = false;

  /** @param reader Reads the entries that a refused group checks. */
  constructor(private readonly reader: KvReader, private readonly commits: Commits) {}

  /** Commits an operation, alone or with others. Throws what the store's commits throw. */
  commit(operation: Operation): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#queue.push({ operation, resolve, reject });
    this.#startSoon();
    return promise;
  }

  /** Starts after this turn of the event loop, so that operations of the same turn share a group. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#running < this.commits.groups && this.#queue.length > 0) {
      this.#running++;
      this.#run(this.#takeGroup()).finally(() => {
        this.#running--;
        this.#startSoon();
      });
    }
  }

  /** Takes operations from the head of the queue for as long as they fit and do not touch the same key. */
  #takeGroup(): Group {
    const [first, second] = this.#queue;
    // An operation that is alone may be large: a quota has merged many already.
    if (first !== undefined && second === undefined) {
      return { merged: first.operation, members: this.#queue.splice(0) };
    }
    const merged = new Operation();
    let count = 0;
    for (const { operation } of this.#queue) {
      const hasRoom = merged.hasRoomFor(operation, MAX_GROUP_BYTES, this.commits.checks);
      if (count > 0 && !hasRoom) break;
      merged.add(operation);
      count++;
    }
    return { merged, members: this.#queue.splice(0, count) };
  }

  async #run(group: Group): Promise<void> {
    let { merged, members } = group;
    while (members.length > 1) {
      if (await this.#commitGroup({ merged, members })) return;
      const holding = await this.#refuseUnmet(members);
      // The cause was not a check, or the check holds again.
      if (holding.length === members.length) break;
      members = holding;
      merged = merge(members);
    }
    await Promise.all(members.map((member) => this.#commitAlone(member)));
  }

  /** Returns `false` if the group was not applied and its members have no answer yet. */
  async #commitGroup({ merged, members }: Group): Promise<boolean> {
    try {
      const outcome = await this.commits.once(merged);
      if (outcome.ok) { for (const { resolve } of members) resolve(outcome); }
      return outcome.ok;
    } catch (error) {
      if (error instanceof StoreFull) {
        await this.#runWithoutBytes(members, error);
        return true;
      }
      // Any other error may be the fault of one member: each is committed alone.
      if (!(error instanceof StoreUnavailable)) return false;
      for (const { reject } of members) reject(error);
      return true;
    }
  }

  /** On a full disk, refuses the members that store bytes of files; the others may still find room. */
  async #runWithoutBytes(members: readonly Waiting[], error: StoreFull): Promise<void> {
    const others = members.filter(({ operation }) => !operation.hasFileBytes);
    const isMixed = others.length > 0 && others.length < members.length;
    for (const member of members) {
      if (!isMixed || member.operation.hasFileBytes) member.reject(error);
    }
    if (isMixed) await this.#run({ merged: merge(others), members: others });
  }

  /** Refuses the members with a check that fails, and returns the others. */
  async #refuseUnmet(members: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      const unmet = await findUnmet(this.reader, members.map(({ operation }) => operation));
      for (const { operation, resolve } of members) {
        if (unmet.has(operation)) resolve({ ok: false });
      }
      return members.filter(({ operation }) => !unmet.has(operation));
    } catch {
      // Each member meets the error again when it is committed alone.
      return members;
    }
  }

  async #commitAlone({ operation, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await this.commits.once(operation));
    } catch (error) {
      reject(error);
    }
  }
}

function merge(members: readonly Waiting[]): Operation {
  const merged = new Operation();
  for (const { operation } of members) merged.add(operation);
  return merged;
}

/** Returns the operations with a check that fails now. */
export async function findUnmet(
  reader: KvReader,
  operations: readonly Operation[],
): Promise<Set<Operation>> {
  const checked = new Map<string, Deno.KvKey>();
  for (const operation of operations) {
    for (const { key } of operation.checks()) checked.set(identityOf(key), key);
  }
  const found = new Map<string, string | null>();
  for (const { key, versionstamp } of await readMany(reader, [...checked.values()])) {
    found.set(identityOf(key), versionstamp);
  }
  const isMet = (operation: Operation) =>
    operation.checks().every(({ key, versionstamp }) =>
      found.get(identityOf(key)) === versionstamp
    );
  return new Set(operations.filter((operation) => !isMet(operation)));
}
