/**
 * Changes the source in many places, one at a time, and reports the changes that no test notices:
 * `deno task test:mutants --help`. It works in copies of the tree.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { print } from "./package/command_line.ts";
import { MUTANTS } from "./test/mutant_table.ts";
import { type Mutant, mutate } from "./test/mutants.ts";
import { TreeCopy } from "./test/tree_copy.ts";

const HELP = `Usage: deno task test:mutants [--only TEXT] [--jobs N]

  --only TEXT  only changes in files whose path contains this text
  --jobs N     how many changes are tested at the same time (2)
  -h, --help   print this

Ends with 1 if a change survives that the table does not explain, or cannot be made.
`;

type Outcome = "noticed" | "survived" | "explained" | "impossible";

interface Verdict {
  mutant: Mutant;
  outcome: Outcome;
  seconds: number;
  detail?: string;
}

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", default: "" },
      jobs: { type: "string", default: "2" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    print(HELP);
    return 0;
  }
  const waiting = MUTANTS.filter(({ file }) => file.includes(values.only));
  const verdicts: Verdict[] = [];
  await Promise.all(Array.from({ length: Number(values.jobs) }, async () => {
    await using copy = await TreeCopy.make();
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const verdict = await judgeOne(copy, mutant);
      print(lineOf(verdict));
      verdicts.push(verdict);
    }
  }));
  return summarize(verdicts);
}

/** Tests one change, in a copy whose tests pass without it. */
async function judgeOne(copy: TreeCopy, mutant: Mutant): Promise<Verdict> {
  const started = performance.now();
  const verdict = (outcome: Outcome, detail?: string): Verdict => ({
    mutant,
    outcome,
    seconds: (performance.now() - started) / 1000,
    ...(detail === undefined ? {} : { detail }),
  });
  const source = await copy.read(mutant.file);
  const changed = mutate(source, mutant);
  if ("problem" in changed) return verdict("impossible", changed.problem);
  const failure = await copy.failureWithout(mutant.tests);
  if (failure !== undefined) return verdict("impossible", `without it:\n${failure}`);
  await copy.write(mutant.file, changed.text);
  try {
    if (await copy.test(mutant.tests) !== undefined) return verdict("noticed");
  } finally {
    await copy.write(mutant.file, source);
  }
  return mutant.survives === undefined
    ? verdict("survived")
    : verdict("explained", mutant.survives);
}

function lineOf({ mutant, outcome, seconds, detail }: Verdict): string {
  const { file, find, replace } = mutant;
  const change = `${JSON.stringify(find)} -> ${JSON.stringify(replace)}`;
  const why = detail === undefined ? "" : `\n  ${detail}`;
  return `${outcome.padEnd(10)} ${seconds.toFixed(1).padStart(5)} s  ${file}: ${change}${why}\n`;
}

function summarize(verdicts: readonly Verdict[]): number {
  const count = (outcome: Outcome) => verdicts.filter((one) => one.outcome === outcome).length;
  print(
    `\n${verdicts.length} changes: ${count("noticed")} noticed, ${count("survived")} survived, ` +
      `${count("explained")} survived for a known reason, ${count("impossible")} impossible\n`,
  );
  return count("survived") + count("impossible") === 0 ? 0 : 1;
}
