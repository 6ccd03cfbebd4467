import type { Store } from "../store/store.ts";
import { MIB } from "../rules/units.ts";
import { hasBody } from "./body.ts";
import { errors } from "./http_error.ts";

/** Bytes for which space is reserved at a time if the size of a body is not announced. */
const UNANNOUNCED_STEP = 16 * MIB;

/** The body of a request that is to be stored. */
export interface StoredBody {
  /** Its size in bytes, if it is known. */
  announced: number | undefined;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Stores a body of any size: waits for an upload slot of the project, and reserves space on the disk for the body, first
 * or as it arrives.
 *
 * @param work Reads the bytes that it is given.
 * @throws {HttpError} 503 if no slot becomes free in time.
 * @throws {StoreFull} if the disk has not enough space.
 */
export async function storeBody<T>(
  project: string,
  { store, slots }: { store: Pick<Store, "reserveDisk">; slots: UploadSlots },
  { announced, bytes }: StoredBody,
  work: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  return await slots.run(project, async () => {
    using reserved = await store.reserveDisk(announced ?? UNANNOUNCED_STEP);
    if (announced === undefined) return await work(reserveAsItArrives(store, bytes));
    return await work(reserved?.track(bytes) ?? bytes);
  });
}

/** Returns the bytes of a body as they arrive, and reserves space for those after the first step. */
async function* reserveAsItArrives(
  store: Pick<Store, "reserveDisk">,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let left = UNANNOUNCED_STEP;
  for await (const piece of bytes) {
    left -= piece.byteLength;
    if (left < 0) {
      // Only looks: the bytes before are written by now, so the reservation of the caller is for these.
      using _room = await store.reserveDisk(UNANNOUNCED_STEP);
      left = UNANNOUNCED_STEP;
    }
    yield piece;
  }
}

/** A project may take a slot while it has fewer than this many times the free ones: at most 48 of 64. */
const SHARE = 3;

/** The most uploads of one project that may wait for a slot. Each costs a connection and some kilobytes. */
const MAX_WAITING = 256;

export interface SlotLimits {
  max: number;
  /** How long an upload waits for a slot, in milliseconds. */
  maxWait: number;
  /** The most uploads of one project that may wait. */
  maxWaiting?: number;
}

/**
 * Limits the uploads that run at once, because each holds memory while its bytes arrive. Further uploads wait.
 *
 * A slow upload cannot be interrupted, so a project never gets all slots: the more it has, the more must be free for it to
 * take another. A project without any upload therefore gets a slot at once. Slots that become free go to the projects in
 * turn, and within a project in the order of arrival. A plain semaphore would give all slots to one project.
 */
export class UploadSlots {
  #free: number;
  /** The waiting uploads by project. The first project is next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Map<string, number>();

  constructor(private readonly limits: SlotLimits) {
    this.#free = limits.max;
  }

  /**
   * Runs an upload of a project in a slot.
   *
   * @throws {HttpError} 503 if no slot becomes free in time, or too many uploads of the project are waiting.
   */
  async run<T>(project: string, work: () => Promise<T>): Promise<T> {
    if (this.#mayTake(project)) this.#take(project);
    else await this.#wait(project);
    try {
      return await work();
    } finally {
      this.#release(project);
    }
  }

  #mayTake(project: string): boolean {
    return (this.#running.get(project) ?? 0) < SHARE * this.#free;
  }

  #take(project: string): void {
    this.#free--;
    this.#running.set(project, (this.#running.get(project) ?? 0) + 1);
  }

  #release(project: string): void {
    this.#free++;
    const left = (this.#running.get(project) ?? 0) - 1;
    if (left === 0) this.#running.delete(project);
    else this.#running.set(project, left);
    this.#startNext();
  }

  async #wait(project: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(project) ?? [];
    const { maxWait, maxWaiting = MAX_WAITING } = this.limits;
    if (queue.length >= maxWaiting) throw errors.tooManyUploads();
    // Queued before `setTimeout`, during which the runtime may run other work.
    queue.push(resolve);
    this.#waiting.set(project, queue);
    const timer = setTimeout(() => {
      const at = queue.indexOf(resolve);
      if (at === -1) return;
      queue.splice(at, 1);
      if (queue.length === 0) this.#waiting.delete(project);
      reject(errors.tooManyUploads());
    }, maxWait);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts the first upload of the next project that may take a slot, and moves that project to the end. */
  #startNext(): void {
    for (const [project, queue] of this.#waiting) {
      if (!this.#mayTake(project)) continue;
      this.#waiting.delete(project);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(project, queue);
      this.#take(project);
      next?.();
      return;
    }
  }
}

/** Counts the requests with a body that are running, so that a shutdown can wait for them. */
export class RunningUploads {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** Runs the work. A request with a body is counted until it ends. Returns the result of the work. */
  async track<T>(request: Request, work: () => Promise<T>): Promise<T> {
    if (request.method === "GET" || !hasBody(request)) return await work();
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
      if (this.#count === 0) this.#resolveAll();
    }
  }

  /** Resolves when no request with a body is running. */
  async whenIdle(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #resolveAll(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}
