/** Counts requests that are sending a body, so that a shutdown can wait for them. */
export class RunningUploads {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** Counts the request while the work goes on, and gives what it gives. */
  async during<T>(request: Request, work: () => Promise<T>): Promise<T> {
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
  async none(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}
