import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { testMutants } from "./mutants/run.ts";
import { type Mutant, mutate } from "./mutants/table.ts";

/** A project with sources and their tests. */
const PROJECT = {
  "deno.json": "{}",
  "src/limit.ts": `export const LIMIT = 3;
export function isTooLarge(size: number): boolean {
  return size > LIMIT;
}
`,
  "src/unused.ts": `export function next(size: number): number {
  return size + 1;
}
`,
  "src/loop.ts": `export function count(): number {
  let n = 0;
  while (n < 3) n++;
  return n;
}
`,
  "src/load.ts": `export const SIZE = Number("1");
`,
  "src/project_test.ts": `import { isTooLarge } from "./limit.ts";
import { SIZE } from "./load.ts";
import { count } from "./loop.ts";
Deno.test("a size at the limit is accepted", () => {
  if (isTooLarge(2 + SIZE)) throw new Error("refused");
});
Deno.test("three are counted", () => {
  if (count() !== 3) throw new Error("wrong");
});
`,
  "src/failing_test.ts": `Deno.test("this fails", () => {
  throw new Error("always");
});
`,
};

const TESTS = ["src/project_test.ts"];

/** Each with the outcome and the beginning of the detail that it must have. */
const CASES: readonly { name: string; mutant: Mutant; outcome: string; detail: string }[] = [
  {
    name: "a change that a test notices is killed, by the test's name",
    mutant: { file: "src/limit.ts", tests: TESTS, find: "size >", replace: "size >=" },
    outcome: "killed",
    detail: "a size at the limit is accepted",
  },
  {
    name: "a change that no test notices survives",
    mutant: { file: "src/unused.ts", tests: TESTS, find: "size + 1", replace: "size + 2" },
    outcome: "survived",
    detail: "no test failed",
  },
  {
    name: "a change that survives for a known reason is explained",
    mutant: {
      file: "src/unused.ts",
      tests: TESTS,
      find: "size + 1",
      replace: "size + 3",
      why: "It is not used.",
    },
    outcome: "explained",
    detail: "It is not used.",
  },
  {
    name: "a change that makes the tests hang is killed",
    mutant: { file: "src/loop.ts", tests: TESTS, find: "n++", replace: "n--" },
    outcome: "killed",
    detail: "the tests hung",
  },
  {
    name: "a change whose tests do not load is an error of the table",
    mutant: {
      file: "src/load.ts",
      tests: TESTS,
      find: 'Number("1")',
      replace: 'Number(BigInt("a"))',
    },
    outcome: "error",
    detail: "its tests do not load",
  },
  {
    name: "tests that fail without the change are an error",
    mutant: {
      file: "src/limit.ts",
      tests: ["src/failing_test.ts"],
      find: "size >",
      replace: "size >=",
    },
    outcome: "error",
    detail: "its tests fail without the change",
  },
  {
    name: "a text that is not unique is an error",
    mutant: { file: "src/loop.ts", tests: TESTS, find: "n", replace: "m" },
    outcome: "error",
    detail: 'the file contains "n" more than once',
  },
  {
    name: "a file that does not exist is an error",
    mutant: { file: "src/absent.ts", tests: TESTS, find: "a", replace: "b" },
    outcome: "error",
    detail: "there is no such file",
  },
];

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

Deno.test("each change is made alone, in a copy, and gets the outcome of its tests", async (t) => {
  await using project = await Project.make();
  const results = await testMutants(CASES.map(({ mutant }) => mutant), {
    root: project.folder,
    parts: ["deno.json", "absent", "src"],
    jobs: 1,
    minTimeLimit: 5000,
  });
  assertEquals(results.length, CASES.length);
  for (const { name, mutant, outcome, detail } of CASES) {
    await t.step(name, () => {
      const result = results.find((each) => each.mutant === mutant);
      assertEquals(result?.outcome, outcome, result?.detail);
      assertEquals(result?.detail.slice(0, detail.length), detail);
    });
  }
  await t.step("the project itself stays unchanged", async () => {
    for (const [file, text] of Object.entries(PROJECT)) {
      assertEquals(await Deno.readTextFile(join(project.folder, file)), text);
    }
  });
});

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

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
