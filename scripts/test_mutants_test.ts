import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { type Mutant, mutate } from "./mutants/mutant.ts";
import { type Result, testMutants } from "./mutants/run.ts";

/** A project with one source and its tests. */
const PROJECT = {
  "deno.json": "{}",
  "src/limit.ts": `export const LIMIT = 3;
export function isTooLarge(size: number): boolean {
  return size > LIMIT;
}
export function unused(size: number): number {
  return size + 1;
}
`,
  "src/limit_test.ts": `import { isTooLarge } from "./limit.ts";
Deno.test("a size at the limit is accepted", () => {
  if (isTooLarge(3)) throw new Error("refused");
});
`,
  "src/failing_test.ts": `Deno.test("this fails", () => {
  throw new Error("always");
});
`,
};

const BASE = { file: "src/limit.ts", tests: ["src/limit_test.ts"] };

Deno.test("a change replaces the only occurrence of its text", () => {
  const change = { find: "<", replace: "<=" };
  assertEquals(mutate("let a;\na < b", change), { text: "let a;\na <= b", line: 2 });
});

Deno.test("a text that is missing, or not unique, is an error", () => {
  const change = { find: "<", replace: "<=" };
  assertEquals(mutate("a > b", change), { problem: 'the file does not contain "<"' });
  assertEquals(mutate("a < b < c", change), { problem: 'the file contains "<" more than once' });
  const same = { find: "<", replace: "<" };
  assertEquals(mutate("a < b", same), { problem: "the replacement is the same text" });
});

Deno.test("a change that a test notices is killed, by the test's name", async () => {
  const { outcome, detail, line } = await resultOf({ ...BASE, find: "size >", replace: "size >=" });
  assertEquals({ outcome, detail, line }, {
    outcome: "killed",
    detail: "a size at the limit is accepted",
    line: 3,
  });
});

Deno.test("a change that no test notices survives", async () => {
  const change = { ...BASE, find: "size + 1", replace: "size + 2" };
  assertEquals((await resultOf(change)).outcome, "survived");
});

Deno.test("a change that survives for a known reason is explained", async () => {
  const change = { ...BASE, find: "size + 1", replace: "size + 2", why: "It is not used." };
  const { outcome, detail } = await resultOf(change);
  assertEquals({ outcome, detail }, { outcome: "explained", detail: "It is not used." });
});

Deno.test("a change that makes the tests hang is killed", async () => {
  const change = { ...BASE, find: "return size > LIMIT", replace: "for (;;) size > LIMIT" };
  const { outcome, detail } = await resultOf(change);
  assertEquals({ outcome, detail }, { outcome: "killed", detail: "the tests hung" });
});

Deno.test("a change with a type error is an error of the table", async () => {
  const { outcome, detail } = await resultOf({ ...BASE, find: "size > LIMIT", replace: "size" });
  assertEquals(outcome, "error");
  assertMatch(detail, /^does not pass the type check/);
});

Deno.test("a change whose tests do not load is an error of the table", async () => {
  const change = { ...BASE, find: "LIMIT = 3;", replace: 'LIMIT = 3;\nthrow new Error("no");' };
  const { outcome, detail } = await resultOf(change);
  assertEquals(outcome, "error");
  assertMatch(detail, /^its tests do not load/);
});

Deno.test("tests that fail without the change are an error", async () => {
  const tests = ["src/failing_test.ts"];
  const change = { ...BASE, tests, find: "size >", replace: "size >=" };
  const { outcome, detail } = await resultOf(change);
  assertEquals(outcome, "error");
  assertMatch(detail, /^its tests fail without the change/);
});

Deno.test("each change is made alone, and the project stays unchanged", async () => {
  await using project = await Project.make();
  const outcomes = await project.test([
    { ...BASE, find: "size >", replace: "size >=" },
    { ...BASE, find: "size + 1", replace: "size + 2" },
    { ...BASE, find: "size", replace: "bytes" },
    { ...BASE, file: "src/absent.ts", find: "a", replace: "b" },
  ]);
  assertEquals(
    outcomes.map(({ outcome }) => outcome).toSorted(),
    ["error", "error", "killed", "survived"],
  );
  const source = await Deno.readTextFile(join(project.folder, BASE.file));
  assertEquals(source, PROJECT["src/limit.ts"]);
});

async function resultOf(mutant: Mutant): Promise<Result> {
  await using project = await Project.make();
  const [result] = await project.test([mutant]);
  if (result === undefined) throw new Error("There is no result");
  return result;
}

class Project implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async make(): Promise<Project> {
    const folder = await Deno.makeTempDir();
    await Deno.mkdir(join(folder, "src"));
    for (const [file, text] of Object.entries(PROJECT)) {
      await Deno.writeTextFile(join(folder, file), text);
    }
    return new Project(folder);
  }

  async test(mutants: readonly Mutant[]): Promise<Result[]> {
    const parts = ["deno.json", "absent", "src"];
    return await testMutants(mutants, { root: this.folder, parts, jobs: 1, minTimeLimit: 5000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
