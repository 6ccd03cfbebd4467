import type { Garbage } from "./records.ts";

/** How a commit ended: applied, refused because a check failed, or failed with an error. */
export type CommitOutcome = "done" | "refused" | "failed";

/** Entries of the garbage list, by their kind, and files whose deadline has passed. */
export type SweptKind = Garbage["kind"] | "expired_file";

/** What the scrub found of a file. `converted`: it was whole, and its missing digest was added. */
export type ScrubOutcome = "whole" | "converted" | "damaged";

/** Receives events of the store for the metrics. Its methods are called on hot paths and must cost next to nothing. */
export interface StoreMeter {
  /**
   * A commit has ended.
   *
   * @param members Operations that were merged into it.
   * @param milliseconds Duration, including the wait for the database's lock.
   */
  committed(outcome: CommitOutcome, members: number, milliseconds: number): void;
  /** A commit is retried because another process holds the database's lock. */
  retried(): void;
  /** The sweeper has removed an entry of the garbage list, or an expired file. */
  swept(kind: SweptKind): void;
  /** The sweeper has taken the bytes of a writer whose lease expired. */
  tookOver(): void;
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

/** Ignores all events. */
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
