import { setImmediate } from "node:timers";
import { StoreFull } from "../disk/disk_space.ts";
import { type Commits, embeddedCommits, type Outcome } from "./commits.ts";
import { StoreUnavailable } from "./errors.ts";
import { identityOf } from "./keys.ts";
import { Operation } from "./operation.ts";
import { readMany } from "./read_queue.ts";

/** Those of the operations that could not happen now, because an entry is not what they demand. */
export async function unmetAmong(
  kv: Deno.Kv,
  operations: readonly Operation[],
): Promise<Set<Operation>> {
  const demanded = new Map<string, Deno.KvKey>();
  for (const operation of operations) {
    for (const { key } of operation.checks()) demanded.set(identityOf(key), key);
  }
  const found = new Map<string, string | null>();
  for (const { key, versionstamp } of await readMany(kv, [...demanded.values()])) {
    found.set(identityOf(key), versionstamp);
  }
  const isMet = (operation: Operation) =>
    operation.checks().every(({ key, versionstamp }) =>
      found.get(identityOf(key)) === versionstamp
    );
  return new Set(operations.filter((operation) => !isMet(operation)));
}

/** Small writes are put together up to this many bytes. */
export const MAX_GROUP_BYTES = 700_000;

interface Waiting {
  operation: Operation;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** Operations that are committed as one. */
interface Group {
  together: Operation;
  members: readonly Waiting[];
}

/**
 * Puts small operations that wait at the same time into one commit: each commit costs the store a sync of the disk.
 * What a caller sees is as if its operation had been committed alone.
 */
export class GroupCommitter {
  readonly #kv: Deno.Kv;
  readonly #commits: Commits;
  readonly #queue: Waiting[] = [];
  #running = 0;
  #isStarting = false;

  /** @param kv Reads why a group was refused. */
  constructor(kv: Deno.Kv, commits = embeddedCommits(kv)) {
    this.#kv = kv;
    this.#commits = commits;
  }

  /** Commits an operation, alone or with others. Throws as the store's commits do. */
  commit(operation: Operation): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#queue.push({ operation, resolve, reject });
    this.#startSoon();
    return promise;
  }

  /** Others that ask within this turn of the event loop come along. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#running < this.#commits.groups && this.#queue.length > 0) {
      this.#running++;
      this.#run(this.#takeGroup()).finally(() => {
        this.#running--;
        this.#startSoon();
      });
    }
  }

  /** From the head of the queue all that goes together: within the limits, and no key twice. */
  #takeGroup(): Group {
    const together = new Operation();
    let count = 0;
    for (const { operation } of this.#queue) {
      const hasRoom = together.hasRoomFor(operation, MAX_GROUP_BYTES, this.#commits.checks);
      if (count > 0 && !hasRoom) break;
      together.add(operation);
      count++;
    }
    return { together, members: this.#queue.splice(0, count) };
  }

  /** Commits together whatever can be: those whose checks don't hold get their answer, and the others go on. */
  async #run(group: Group): Promise<void> {
    let { together, members } = group;
    while (members.length > 1) {
      if (await this.#commitTogether({ together, members })) return;
      const holding = await this.#refuse(members);
      // Not a check, or one that holds again.
      if (holding.length === members.length) break;
      members = holding;
      together = combined(members);
    }
    await Promise.all(members.map((member) => this.#commitAlone(member)));
  }

  /** Gives `false` where the group was refused, which changed nothing. */
  async #commitTogether({ together, members }: Group): Promise<boolean> {
    try {
      const outcome = await this.#commits.once(together);
      if (outcome.ok) { for (const { resolve } of members) resolve(outcome); }
      return outcome.ok;
    } catch (error) {
      if (error instanceof StoreFull) {
        await this.#runWithoutBytes(members, error);
        return true;
      }
      const concernsAll = error instanceof StoreUnavailable;
      if (concernsAll) { for (const { reject } of members) reject(error); }
      return concernsAll;
    }
  }

  /** On a full disk the members that store bytes of files are refused; the others may still find room. */
  async #runWithoutBytes(members: readonly Waiting[], error: StoreFull): Promise<void> {
    const others = members.filter(({ operation }) => !operation.hasFileBytes);
    const isMixed = others.length > 0 && others.length < members.length;
    for (const member of members) {
      if (!isMixed || member.operation.hasFileBytes) member.reject(error);
    }
    if (isMixed) await this.#run({ together: combined(others), members: others });
  }

  /** Tells those whose checks don't hold that they were refused; gives the others. */
  async #refuse(members: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      const unmet = await unmetAmong(this.#kv, members.map(({ operation }) => operation));
      for (const { operation, resolve } of members) {
        if (unmet.has(operation)) resolve({ ok: false });
      }
      return members.filter(({ operation }) => !unmet.has(operation));
    } catch {
      // Each alone is told what the matter is.
      return members;
    }
  }

  async #commitAlone({ operation, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await this.#commits.once(operation));
    } catch (error) {
      reject(error);
    }
  }
}

function combined(members: readonly Waiting[]): Operation {
  const together = new Operation();
  for (const { operation } of members) together.add(operation);
  return together;
}
