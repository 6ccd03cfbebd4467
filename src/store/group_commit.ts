import { GROUP_COMMITS } from "../drive/limits.ts";
import { commitOperation, type Outcome } from "./commit.ts";
import { StoreFull, StoreUnavailable } from "./errors.ts";
import { Operation } from "./operation.ts";

/** Small writes are put together up to this many bytes. */
const MAX_GROUP_BYTES = 700_000;

interface Waiting {
  operation: Operation;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

interface Group {
  together: Operation;
  members: Waiting[];
}

/**
 * Puts small operations that wait at the same time into one commit: each commit costs the store a sync of the disk.
 * What a caller sees is as if its operation had been committed alone.
 */
export class GroupCommitter {
  readonly #kv: Deno.Kv;
  readonly #queue: Waiting[] = [];
  #running = 0;

  constructor(kv: Deno.Kv) {
    this.#kv = kv;
  }

  /** Commits an operation, alone or with others. Throws as `commitOperation` does. */
  commit(operation: Operation): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#queue.push({ operation, resolve, reject });
    this.#start();
    return promise;
  }

  #start(): void {
    while (this.#running < GROUP_COMMITS && this.#queue.length > 0) {
      this.#running++;
      this.#run(this.#takeGroup()).finally(() => {
        this.#running--;
        this.#start();
      });
    }
  }

  /** From the head of the queue all that goes together: within the limits, and no key twice. */
  #takeGroup(): Group {
    const together = new Operation();
    let count = 0;
    for (const { operation } of this.#queue) {
      if (count > 0 && !together.hasRoomFor(operation, MAX_GROUP_BYTES)) break;
      together.add(operation);
      count++;
    }
    return { together, members: this.#queue.splice(0, count) };
  }

  async #run({ together, members }: Group): Promise<void> {
    if (members.length > 1 && await this.#commitTogether(together, members)) return;
    await Promise.all(members.map((member) => this.#commitAlone(member)));
  }

  /** Gives `false` where the group was refused, which changed nothing: committing each alone tells whose check failed. */
  async #commitTogether(together: Operation, members: Waiting[]): Promise<boolean> {
    try {
      const outcome = await commitOperation(this.#kv, together);
      if (outcome.ok) { for (const { resolve } of members) resolve(outcome); }
      return outcome.ok;
    } catch (error) {
      const concernsAll = error instanceof StoreUnavailable || error instanceof StoreFull;
      if (concernsAll) { for (const { reject } of members) reject(error); }
      return concernsAll;
    }
  }

  async #commitAlone({ operation, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await commitOperation(this.#kv, operation));
    } catch (error) {
      reject(error);
    }
  }
}
