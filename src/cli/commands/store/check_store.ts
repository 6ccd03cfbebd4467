import { failureReason } from "../../../rules/system_error.ts";
import { CannotRestore, S3KeysUnavailable } from "../../../store/engine/errors.ts";
import { type S3KeyEntry, type VerifyReport, verifyStore } from "../../../store/verify/verify.ts";
import { printError } from "../../terminal/output.ts";
import type { TaskProgress } from "../../terminal/task_progress.ts";
import { plural, printable } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { S3SecretBox, type S3SecretKey } from "../../../store/accounts/s3_secrets.ts";

/** Problems that are listed. */
const SHOWN = 20;

/**
 * Prints what was found on standard error, one sentence a line.
 *
 * @param isComplete Whether all are listed, as those who accept the damage have to know it.
 */
export function printProblems(messages: readonly string[], isComplete = false): void {
  const shown = isComplete ? messages : messages.slice(0, SHOWN);
  for (const message of shown) printError(`${printable(message)}.\n`);
}

/** The result of a check before a store is replaced. */
export interface StoreCheck {
  report: VerifyReport;
  /** How many problems were found. */
  problems: number;
}

/**
 * Verifies what is to become the store.
 *
 * @param place What messages call it.
 * @throws {CannotRestore} if it is no store, or damaged and the command does not say that this is accepted.
 */
export async function checkStore(
  path: string,
  call: CommandCall,
  progress: TaskProgress,
  place: string,
): Promise<StoreCheck> {
  const report = await verifyStore(path, {
    isPrivate: true,
    onBytes: (done, total) => progress.show("Verify", done, total),
  }).catch((error: unknown) => {
    const reason = failureReason(error);
    const [, name = place] = /^backup (.*)$/.exec(place) ?? [];
    throw new CannotRestore(`${name} is not a backup of a store: ${reason}`, { cause: error });
  });
  const { problems } = report;
  if (problems.length === 0) return { report, problems: 0 };
  progress.clear();
  const isDamagedAllowed = call.has("damaged");
  printProblems(problems.map(({ message }) => message), isDamagedAllowed);
  const isBroken = problems.some(({ kind }) => kind === "database");
  if (!isBroken && isDamagedAllowed) return { report, problems: problems.length };
  const advice = isBroken ? "" : ". To restore it without them, add --damaged";
  throw new CannotRestore(
    `The ${place} is damaged: it has ${plural(problems.length, "problem")}${advice}`,
  );
}

/** The S3 keys of a store, in the JSON of a result. */
export interface S3KeysFound {
  total: number;
  /** Those whose secrets cannot be decrypted. */
  unusable: number;
  /** A sentence; `null` if all can be used. */
  problem: string | null;
}

/** Finds out which S3 keys can be used with what encrypts their secrets. */
export async function checkS3Keys(
  keys: readonly S3KeyEntry[],
  secretKey: S3SecretKey,
): Promise<S3KeysFound> {
  const box = new S3SecretBox(secretKey);
  const problems: string[] = [];
  for (const { accessKeyId, record: { project, secret } } of keys) {
    try {
      await box.open(secret, { accessKeyId, project });
    } catch (error) {
      if (!(error instanceof S3KeysUnavailable)) throw error;
      problems.push(error.message);
    }
  }
  const [total, unusable] = [keys.length, problems.length];
  const problem = unusable === 0
    ? null
    : `${problems[0]}. This concerns ${unusable} of ${plural(total, "S3 key")}`;
  return { total, unusable, problem };
}
