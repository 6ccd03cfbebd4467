/**
 * Runs the tests from outside and tells which operations and statuses of `/openapi.json` their answers had. Each of those
 * answers was compared with its description by the tests themselves.
 *
 *     deno run -A scripts/openapi_report.ts [FILE_OR_FOLDER …]
 *
 * It ends with 1 where a test fails, and where no test had an answer that `WHY_NOT` does not explain.
 *
 * @module
 */
import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { routes } from "../src/app.ts";
import { describeRoutes } from "../src/openapi/document.ts";
import { METHODS } from "../src/openapi/types.ts";
import { ROOT } from "./package/parts.ts";

/** Why no test has answers of a status. */
const WHY_NOT: readonly { of: RegExp; why: string }[] = [
  { of: / 500$/, why: "it would be a defect" },
  { of: / 507$/, why: "the disk has to be full, as it is in tests/faults/disk_full_test.ts" },
  {
    of: /^(POST|PATCH) \S+\/uploads(\/\{upload_id\})? 409$/,
    why: "a drive is being removed for a moment only",
  },
  { of: /^DELETE \S+\/drives\/\{drive_name\} 409$/, why: "a hundred drives must be being removed" },
];

/** What `tests/support/openapi/watch.ts` writes to. */
const TALLY = "KVDRIVE_TALLY";

async function runTests(file: string, places: readonly string[]): Promise<boolean> {
  const args = ["test", "--quiet", "--parallel", "--no-prompt", "-A", ...places];
  const env = { [TALLY]: file };
  const cwd = join(ROOT, "tests");
  return (await new Deno.Command(Deno.execPath(), { args, env, cwd }).spawn().status).success;
}

/** How many answers there were, by what they answered. */
function count(lines: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pair of lines.split("\n")) {
    if (pair !== "") counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

function describedPairs(): string[] {
  return Object.entries(describeRoutes(routes).paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) =>
      Object.keys(item[method]?.responses ?? {}).map((status) =>
        `${method.toUpperCase()} ${path} ${status}`
      )
    )
  );
}

/** The method and the path of a pair. */
function operationOf(pair: string): string {
  return pair.slice(0, pair.lastIndexOf(" "));
}

/** Prints which answers were seen. @returns whether every missing one is explained. */
function report(counts: ReadonlyMap<string, number>): boolean {
  const described = describedPairs();
  const produced = described.filter((pair) => counts.has(pair));
  const missing = described.filter((pair) => !counts.has(pair));
  const explained = missing.filter((pair) => WHY_NOT.some(({ of }) => of.test(pair)));
  const open = missing.filter((pair) => !explained.includes(pair));
  const answers = [...counts.values()].reduce((sum, one) => sum + one, 0);
  const operations = new Set(described.map(operationOf)).size;
  const called = new Set(produced.map(operationOf)).size;
  print(`${answers} answers were as they are described.`);
  print(`${called} of ${operations} operations were called.`);
  print(`${produced.length} of ${described.length} pairs of operation and status were seen.`);
  for (const { of, why } of WHY_NOT) {
    const fitting = explained.filter((pair) => of.test(pair)).length;
    print(`${fitting} were not, because ${why}: ${of.source}`);
  }
  for (const pair of open) print(`No test had: ${pair}`);
  return open.length === 0;
}

function print(line: string): void {
  let rest = new TextEncoder().encode(`${line}\n`);
  while (rest.byteLength > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-report-" });
  try {
    const file = `${folder}/answers.txt`;
    await Deno.writeTextFile(file, "");
    const places = Deno.args.length > 0
      ? Deno.args.map((path) => resolve(path))
      : ["--ignore=faults,browser,s3", "."];
    const passed = await runTests(file, places);
    const complete = report(count(await Deno.readTextFile(file)));
    if (!passed || !complete) Deno.exitCode = 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
