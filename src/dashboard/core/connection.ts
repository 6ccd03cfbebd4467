import { type ReadonlySignal, signal } from "@preact/signals";
import { basePath } from "./server.ts";

/** How the last calls went. */
export type ConnectionState = "online" | "offline" | "failing";

/** Pause between two attempts to reach the server, in milliseconds. */
const PROBE_INTERVAL = 3000;

/** Knows whether the server answers. While it does not, it asks again every few seconds. */
export class Connection {
  readonly #state = signal<ConnectionState>("online");
  readonly state: ReadonlySignal<ConnectionState> = this.#state;
  readonly #restored = signal(0);
  /** Changes each time the server answers again after a failure: what is shown should be loaded again. */
  readonly restored: ReadonlySignal<number> = this.#restored;
  #probe: number | undefined;

  constructor() {
    globalThis.addEventListener("offline", () => this.failed(0));
    globalThis.addEventListener("online", () => void this.#ask());
  }

  succeeded(): void {
    if (this.#state.value === "online") return;
    clearInterval(this.#probe);
    this.#probe = undefined;
    this.#state.value = "online";
    this.#restored.value++;
  }

  /** A call failed for a reason that may pass. @param status 0 without an answer. */
  failed(status: number): void {
    this.#state.value = status === 0 ? "offline" : "failing";
    this.#probe ??= setInterval(() => void this.#ask(), PROBE_INTERVAL);
  }

  async #ask(): Promise<void> {
    try {
      const response = await fetch(`${basePath()}/readyz`, { cache: "no-store" });
      await response.body?.cancel();
      if (response.ok) this.succeeded();
    } catch {
      // It is still out of reach: the next attempt follows.
    }
  }
}
