import { databasePath, openDatabase } from "../store/database.ts";
import type { Problem } from "../store/verify/problem.ts";
import { repair, REPAIR_ROUNDS } from "../store/verify/repair.ts";
import { type Verdict, verifyStore } from "../store/verify/verify.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { CommandError } from "./usage_error.ts";
import type { Workshop } from "./workshop.ts";

export const verifyCommands: readonly StoreCommand[] = [
  {
    name: "verify",
    options: [{ name: "repair", help: "remove what nobody needs, put counters and lists right" }],
    summary: "look whether all that the store has is whole and right",
    run: verify,
  },
];

async function verify(call: Call): Promise<void> {
  await call.demandStore();
  using workshop = call.workshop(() => {});
  const solved: Problem[] = [];
  let verdict = await look(call, workshop);
  for (let round = 0; call.has("repair") && round < REPAIR_ROUNDS; round++) {
    const { problems } = verdict;
    if (!problems.some(({ repair }) => repair !== undefined)) break;
    solved.push(...await putRight(call, problems));
    verdict = await look(call, workshop);
  }
  workshop.done();
  const { files, bytes, unchecked, problems } = verdict;
  const lines = [
    ...solved.map(({ message, repair }) => `${message}. ${repair?.done}.`),
    ...problems.map(({ message }) => `${message}.`),
    ...(verdict.more ? ["There is more: this is the beginning."] : []),
    ...(problems.length === 0 ? [`All is well: ${files} files, ${bytes} bytes.`] : []),
    ...(unchecked === 0 ? [] : [
      `Not yet checked: ${unchecked} files of an older store have no checksums or no digest; ` +
      "the scrub of a server adds them.",
    ]),
  ];
  const json = {
    files,
    bytes,
    unchecked,
    problems: problems.map(jsonOf),
    repaired: solved.map(jsonOf),
    more: verdict.more,
  };
  call.answer(json, lines);
  if (problems.length > 0) throw new CommandError(summaryOf(verdict, call.has("repair")));
}

async function look(call: Call, workshop: Workshop): Promise<Verdict> {
  const path = databasePath(call.data);
  try {
    return await verifyStore(path, {
      onBytes: (done, total) => workshop.show("Verify", done, total),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot read the store in ${call.data}: ${reason}`, { cause: error });
  }
}

async function putRight(call: Call, problems: readonly Problem[]): Promise<Problem[]> {
  const database = await openDatabase(call.data);
  try {
    return await repair(database, problems);
  } finally {
    await database.close();
  }
}

function jsonOf({ repair, ...problem }: Problem): Record<string, unknown> {
  return { ...problem, repairable: repair !== undefined };
}

function summaryOf({ problems, more }: Verdict, isRepaired: boolean): string {
  const count = `${problems.length}${more ? " or more" : ""}`;
  const repairable = problems.filter(({ repair }) => repair !== undefined).length;
  const advice = repairable > 0 && !isRepaired
    ? `kvdrive verify --repair puts ${repairable} of them right`
    : "a person has to decide about them";
  return `The store has ${count} problems: ${advice}`;
}
