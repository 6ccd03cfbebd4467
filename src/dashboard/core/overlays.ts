import { type ReadonlySignal, signal } from "@preact/signals";
import type { VNode } from "preact";

/** Something that lies over the page until it is closed: a dialog or a menu. */
export interface Overlay {
  id: number;
  node: VNode;
}

export class Overlays {
  readonly #open = signal<readonly Overlay[]>([]);
  readonly open: ReadonlySignal<readonly Overlay[]> = this.#open;
  #next = 1;

  /**
   * Shows a component until it calls `close`. Returns what it closed with; `undefined` if it was dismissed.
   *
   * @param make Makes the component with its `close` function.
   */
  show<T>(make: (close: (result?: T) => void) => VNode): Promise<T | undefined> {
    return new Promise((resolve) => {
      const id = this.#next++;
      const close = (result?: T) => {
        this.#open.value = this.#open.value.filter((overlay) => overlay.id !== id);
        resolve(result);
      };
      this.#open.value = [...this.#open.value, { id, node: make(close) }];
    });
  }

  /** Closes everything, as the session ended. */
  clear(): void {
    this.#open.value = [];
  }
}
