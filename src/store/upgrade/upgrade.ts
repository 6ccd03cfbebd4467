/**
 * Converts a store of an older format to that of this version, before a server uses it.
 *
 * A store in files is locked meanwhile, so no other process uses it. A shared store has no such lock: several new
 * servers may convert it at the same time, because every change requires that the number of the format is still the one
 * that its step begins with. Servers of an older version must be stopped before.
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { type Convert, FORMAT, formatIn, formatOf, setFormat } from "../engine/format.ts";
import { keys } from "../engine/keys.ts";
import { Operation, SharedCheck } from "../engine/operation.ts";
import type { KvReader } from "../reads/read_queue.ts";
import { FORMAT_STEPS, type FormatStep } from "./format_steps.ts";
import { requireSpaceToSeparate, separateBytes } from "./separate_bytes.ts";

/** Another process has finished the step. */
class Overtaken extends Error {}

export interface ConverterOptions {
  /** Receives what is done, in sentences. */
  onNotice: (text: string) => void;
  /** Bytes of the disk that must stay free. */
  reserve: number;
}

/**
 * Returns the function that converts stores. The number is written after each step, so an interrupted conversion goes on
 * at the next start.
 */
export function converter(options: ConverterOptions): Convert {
  const convert = async (db: Database) => {
    await convertFormat(db, options.onNotice);
    await separateBytes(db, options);
  };
  return Object.assign(convert, {
    requireSpace: (db: Database) => requireSpaceToSeparate(db, options.reserve),
  });
}

/** Runs the steps that lead from the format of a store to `FORMAT`. */
export async function convertFormat(
  db: Database,
  onNotice: (text: string) => void,
  steps: readonly FormatStep[] = FORMAT_STEPS,
): Promise<void> {
  const first = await formatOf(db);
  if (first === FORMAT) return;
  onNotice(
    `The store has format ${first} and is converted to format ${FORMAT}, which older versions of kvdrive cannot ` +
      "read: to go back to one, restore a backup or a copy of the folder from before",
  );
  for (let format = first;; format = await formatOf(db)) {
    const step = steps.find(({ from }) => from === format);
    if (step === undefined) return;
    onNotice(`Format ${step.to}: ${step.description}`);
    await run(db, step, onNotice);
  }
}

async function run(
  db: Database,
  step: FormatStep,
  onNotice: (text: string) => void,
): Promise<void> {
  const { key, value, versionstamp } = await db.reader.get<Deno.KvU64>(keys.format());
  if (formatIn(value) !== step.from) return;
  const unchanged = new SharedCheck(key, versionstamp);
  const commit = async (operation: Operation): Promise<boolean> => {
    if ((await db.commit(operation.share(unchanged))).ok) return true;
    if ((await db.reader.get(key)).versionstamp !== versionstamp) throw new Overtaken();
    return false;
  };
  const convert = (reader: KvReader) => step.convert({ reader, commit, onNotice });
  try {
    await convert(db.diskReader).catch((error: unknown) => {
      // Deno KV lists nothing beside a value that it cannot decode. The other reader can, but takes more memory.
      if (error instanceof Overtaken || db.reader === db.diskReader) throw error;
      return convert(db.reader);
    });
  } catch (error) {
    if (error instanceof Overtaken) return;
    throw error;
  }
  // A refusal means that another process has finished the step.
  await db.commit(setFormat(new Operation().check(key, versionstamp), step.to));
}
