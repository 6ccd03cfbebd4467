import type { Database } from "../engine/database.ts";
import type { Operation } from "../engine/operation.ts";

/** What is put right, and how: each operation demands that the store is still as it was when the problem was found. */
export interface Repair {
  /** What has been done then, as a sentence without its end: `The chunks were removed`. */
  done: string;
  /** In the order in which they have to happen. */
  operations: () => Iterable<Operation>;
}

/** Something in the store that is not as it has to be. */
export interface Problem {
  /** What kind of thing it is, for programs: `file`, `part`, `orphan`, `usage`, `quota`, `index`, `journal`, `database`. */
  kind: ProblemKind;
  /** A sentence without its end. */
  message: string;
  /** Where it is, as far as it is in a project, a drive, a file. */
  project?: string;
  drive?: string;
  name?: string;
  /** Absent where only a person can decide what is to be done. */
  repair?: Repair;
}

export type ProblemKind =
  | "database"
  | "file"
  | "part"
  | "orphan"
  | "usage"
  | "quota"
  | "index"
  | "journal"
  | "unknown";

export { fileText } from "../engine/records.ts";

/** A drive as a message names it. */
export function driveText(project: string, drive: string): string {
  return `drive ${JSON.stringify(drive)} of project ${project}`;
}

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
