import { NEW_NAMES_IN_A_ROW } from "../drive/limits.ts";

/**
 * Guesses whether the next name that is written is a new one, from those before: to ask the store costs a read. A guess
 * that was wrong costs a commit that is refused and made again, so one file that was there after all ends the guessing
 * until many new names in a row have come.
 */
export class NewNames {
  #newInARow = NEW_NAMES_IN_A_ROW;

  /** Whether it is worth a try to take a name for new. */
  get areLikely(): boolean {
    return this.#newInARow >= NEW_NAMES_IN_A_ROW;
  }

  /** To be told of each name that was written: whether it was there before. */
  note(wasThere: boolean): void {
    this.#newInARow = wasThere ? 0 : this.#newInARow + 1;
  }
}
