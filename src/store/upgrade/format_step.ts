import type { Operation } from "../engine/operation.ts";
import { inBatches, type KvReader } from "../reads/read_queue.ts";

/** Operations that are committed at the same time. */
const BATCH = 100;

/** A store during a step. */
export interface Conversion {
  reader: KvReader;
  /**
   * Commits a change. Changes of the same turn share commits, so a batch is a `Promise.all` of small operations.
   *
   * @returns `false` if a check of the operation fails.
   * @throws {Overtaken} once another process has finished the step.
   */
  commit(operation: Operation): Promise<boolean>;
  /** Receives the progress, as a sentence. */
  onNotice(text: string): void;
}

/** The change from one format to the next. */
export interface FormatStep {
  from: number;
  to: number;
  /** What it does, as the end of a sentence. */
  description: string;
  /**
   * Changes the entries. It may be interrupted anywhere and run again from its beginning, so it leaves what it has
   * changed already.
   */
  convert(conversion: Conversion): Promise<void>;
}

/** Commits operations in batches, in their order. */
export async function commitAll(
  { commit }: Conversion,
  operations: AsyncIterable<Operation>,
): Promise<void> {
  for await (const batch of inBatches(operations, BATCH)) await Promise.all(batch.map(commit));
}
