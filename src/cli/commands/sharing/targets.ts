import { CommandError, printNotice } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";

/**
 * Handles each target, and reports those that do not exist on standard error.
 *
 * @param handle Returns `undefined` if there is no such target.
 * @returns What was handled.
 * @throws {CommandError} if none was.
 */
export async function findEach<T>(
  targets: readonly string[],
  noun: string,
  handle: (target: string) => Promise<T | undefined>,
): Promise<T[]> {
  const done: T[] = [];
  const missing: string[] = [];
  for (const target of targets) {
    const result = await handle(target);
    if (result === undefined) missing.push(target);
    else done.push(result);
  }
  const [only] = missing;
  if (only === undefined) return done;
  if (targets.length === 1) throw new CommandError(`There is no ${noun} ${only}`);
  for (const target of missing) printNotice(`There is no ${noun} ${target}`);
  if (done.length > 0) {
    printNotice(`Changed ${plural(done.length, noun)}, before the failure below`);
  }
  throw new CommandError(`Cannot find ${plural(missing.length, noun)}: see above`);
}
