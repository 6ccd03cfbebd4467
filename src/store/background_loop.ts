/** Repeats some work in the background, one run at a time, until it is stopped. */
export class BackgroundLoop {
  readonly #work: () => Promise<void>;
  readonly #interval: number;
  readonly #onError: (error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  /** Whether there may be more to do than the current run knows of. */
  #isWoken = false;

  /**
   * @param interval Milliseconds from the begin of one run to the begin of the next.
   * @param onError Receives what a run throws. The next run follows as usual.
   */
  constructor(
    work: () => Promise<void>,
    { interval, onError }: { interval: number; onError: (error: unknown) => void },
  ) {
    this.#work = work;
    this.#interval = interval;
    this.#onError = onError;
  }

  /** Begins the first run soon. */
  start(): void {
    this.#schedule(0);
  }

  /** Begins the next run soon, or as soon as the current one has ended. Does nothing before `start`. */
  wake(): void {
    this.#isWoken = true;
    if (this.#timer === undefined || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#schedule(0);
  }

  /** Begins no further run, and waits for the current one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(pause: number): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#run(), pause);
  }

  async #run(): Promise<void> {
    const began = performance.now();
    this.#isWoken = false;
    this.#running = this.#work().catch(this.#onError);
    await this.#running;
    this.#running = undefined;
    const left = this.#interval - (performance.now() - began);
    this.#schedule(this.#isWoken ? 0 : Math.max(0, left));
  }
}
