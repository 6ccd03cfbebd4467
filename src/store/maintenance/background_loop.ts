/** Repeats some work in the background, one run at a time, until it is stopped. */
export class BackgroundLoop {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  /** Whether there may be more to do than the current run knows of. */
  #isWoken = false;

  /**
   * @param interval Milliseconds from the start of one run to the start of the next.
   * @param onError Called with what a run throws. The next run follows as usual.
   */
  constructor(
    private readonly work: () => Promise<void>,
    private readonly options: { interval: number; onError: (error: unknown) => void },
  ) {}

  /** Starts the first run. */
  start(): void {
    this.#schedule(0);
  }

  /** Starts the next run now, or as soon as the current one has ended. Does nothing before `start`. */
  wake(): void {
    this.#isWoken = true;
    if (this.#timer === undefined || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#schedule(0);
  }

  /** Starts no further run, and waits for the current one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(pause: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => this.#run(), pause);
    // A program that has nothing else to do may end in a pause, but not before work that is due.
    if (pause > 0) Deno.unrefTimer(this.#timer);
  }

  async #run(): Promise<void> {
    const began = performance.now();
    this.#isWoken = false;
    this.#running = this.work().catch(this.options.onError);
    await this.#running;
    this.#running = undefined;
    const left = this.options.interval - (performance.now() - began);
    this.#schedule(this.#isWoken ? 0 : Math.max(0, left));
  }
}
