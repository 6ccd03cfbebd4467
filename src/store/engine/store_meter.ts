/** How a commit ended: on disk, refused as a check did not hold, or failed. */
export type CommitOutcome = "done" | "refused" | "failed";

/** What the sweeper removed: entries of its list, by their kind. */
export type SweptKind = "chunks" | "manifest" | "upload" | "parts" | "entry";

/** What the scrub found of a file. `converted`: it was whole, and lacked digests or checksums, which were added. */
export type ScrubOutcome = "whole" | "converted" | "damaged";

/** Is told what the store does. What it is told must cost next to nothing. */
export interface StoreMeter {
  /**
   * A commit has ended.
   *
   * @param members How many operations were in it.
   * @param milliseconds How long it took, waiting for the database's lock included.
   */
  committed(outcome: CommitOutcome, members: number, milliseconds: number): void;
  /** A commit is tried again, because another process holds the database's lock. */
  retried(): void;
  /** The sweeper has removed something. */
  swept(kind: SweptKind): void;
  /** The sweeper has taken the bytes of a writer that was silent for too long. */
  tookOver(): void;
  /** A sweep has ended. */
  sweepEnded(succeeded: boolean, milliseconds: number): void;
  /** A download met bytes that are missing or wrong. */
  damageRead(): void;
  /** The scrub has read bytes. */
  scrubbed(bytes: number): void;
  /** The scrub has checked a file. */
  fileScrubbed(outcome: ScrubOutcome): void;
  /** A pass of the scrub over all files has ended. */
  scrubEnded(succeeded: boolean): void;
}

const nothing = (): void => {};

/** Measures nothing. */
export const NO_METER: StoreMeter = {
  committed: nothing,
  retried: nothing,
  swept: nothing,
  tookOver: nothing,
  sweepEnded: nothing,
  damageRead: nothing,
  scrubbed: nothing,
  fileScrubbed: nothing,
  scrubEnded: nothing,
};
