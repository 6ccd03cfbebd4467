import type { Database } from "../database.ts";
import type { Problem } from "./problem.ts";

/** How often what others changed meanwhile is looked for anew. */
export const REPAIR_ROUNDS = 5;

/**
 * Puts right what can be put right without a person. What has changed since it was found is left as it is. Gives the
 * problems that are solved.
 */
export async function repair(db: Database, problems: readonly Problem[]): Promise<Problem[]> {
  const solved: Problem[] = [];
  for (const problem of problems) {
    if (problem.repair === undefined) continue;
    if (await repairOne(db, problem.repair)) solved.push(problem);
  }
  return solved;
}

async function repairOne(
  db: Database,
  { operations }: NonNullable<Problem["repair"]>,
): Promise<boolean> {
  for (const operation of operations()) {
    if (!(await db.commitBulk(operation)).ok) return false;
  }
  return true;
}
