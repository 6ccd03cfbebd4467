import { errors } from "./http_error.ts";

/** A project takes a free slot while it has fewer than this many times the free ones: of 64 it gets 48 at most. */
const SHARE = 3;

/** Uploads of one project that wait for a slot. Each costs a connection and some kilobytes. */
const MAX_WAITING = 256;

export interface SlotLimits {
  /** How many uploads run at once. */
  max: number;
  /** How long one more waits for a slot, in milliseconds. */
  patience: number;
  /** How many uploads of one project wait. */
  maxWaiting?: number;
}

interface Waiting {
  start: () => void;
}

/**
 * Slots for uploads: each upload holds some memory while its bytes come. The others wait.
 *
 * A project never takes all slots, as no slow upload can be made to give one back: the more it has, the more have to be
 * free. So there is one at once for a project that has none. Slots that get free go to the projects in turn, and within a
 * project in the order of arrival.
 */
export class UploadSlots {
  readonly #patience: number;
  readonly #maxWaiting: number;
  #free: number;
  /** By project. The first one is next. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #running = new Map<string, number>();

  constructor({ max, patience, maxWaiting = MAX_WAITING }: SlotLimits) {
    this.#free = max;
    this.#patience = patience;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs the work of a project in a slot of its own.
   *
   * @throws {HttpError} 503 if none is free for too long, or too many uploads of the project wait already.
   */
  async run<T>(project: string, work: () => Promise<T>): Promise<T> {
    if (this.#mayTake(project)) this.#take(project);
    else await this.#wait(project);
    try {
      return await work();
    } finally {
      this.#giveBack(project);
    }
  }

  #mayTake(project: string): boolean {
    return (this.#running.get(project) ?? 0) < SHARE * this.#free;
  }

  #take(project: string): void {
    this.#free--;
    this.#running.set(project, (this.#running.get(project) ?? 0) + 1);
  }

  #giveBack(project: string): void {
    this.#free++;
    const left = (this.#running.get(project) ?? 0) - 1;
    if (left === 0) this.#running.delete(project);
    else this.#running.set(project, left);
    this.#startNext();
  }

  async #wait(project: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(project) ?? [];
    if (queue.length >= this.#maxWaiting) throw errors.tooManyUploads();
    // Before the timer is made: the runtime may run other work within that call.
    const waiting: Waiting = { start: resolve };
    queue.push(waiting);
    this.#waiting.set(project, queue);
    const timer = setTimeout(() => {
      const at = queue.indexOf(waiting);
      if (at === -1) return;
      queue.splice(at, 1);
      if (queue.length === 0) this.#waiting.delete(project);
      reject(errors.tooManyUploads());
    }, this.#patience);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts the first upload of the next project that may take a slot; that project is the last one then. */
  #startNext(): void {
    for (const [project, queue] of this.#waiting) {
      if (!this.#mayTake(project)) continue;
      this.#waiting.delete(project);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(project, queue);
      this.#take(project);
      next?.start();
      return;
    }
  }
}

/** Counts requests that are sending a body, so that a shutdown can wait for them. */
export class RunningUploads {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** Counts the request while the work goes on, and gives what it gives. */
  async track<T>(request: Request, work: () => Promise<T>): Promise<T> {
    if (request.method === "GET" || request.body === null) return await work();
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
      if (this.#count === 0) this.#release();
    }
  }

  /** Resolves as soon as no request is sending a body. */
  async whenIdle(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}
