import { errors } from "./http_error.ts";

export interface SlotLimits {
  /** How many uploads run at once. */
  max: number;
  /** How long one more waits for a place, in milliseconds. */
  patience: number;
}

/** Places for uploads: each holds some memory while its bytes come. The others wait in the order of arrival. */
export class UploadSlots {
  readonly #patience: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor({ max, patience }: SlotLimits) {
    this.#free = max;
    this.#patience = patience;
  }

  /** Runs the work in a place of its own. @throws {HttpError} 503 where none is free for too long. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#take();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #take(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const take = () => {
        resolve();
        clearTimeout(timer);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(errors.tooManyUploads());
      }, this.#patience);
      this.#waiting.push(take);
    });
  }
}
