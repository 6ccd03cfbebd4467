/**
 * The workflows of GitHub. actionlint checks them: that of the PATH, else one that Go builds.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path/join";
import { print } from "./package/command_line.ts";
import { filesBelow, ROOT } from "./package/parts.ts";

const ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";

const workflows = new Map<string, string>();
for (const path of await filesBelow(ROOT, ".github/workflows")) {
  workflows.set(path, await Deno.readTextFile(join(ROOT, path)));
}

Deno.test("Each action is pinned by its commit, and no job may do more than it needs", () => {
  assertEquals([...workflows.keys()].length, 2);
  for (const [path, text] of workflows) {
    for (const [, action = ""] of text.matchAll(/uses: (.*)/g)) {
      assertMatch(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d/, path);
    }
    assertMatch(text, /^permissions:\n {2}contents: read\n/m, path);
    assert(!text.includes("secrets."), path);
  }
});

Deno.test("They use the Deno that the project is tested with", async () => {
  const [version] = /(?<=deno@)[\d.]+/.exec(await Deno.readTextFile(`${ROOT}.ci/run`)) ?? [];
  for (const [path, text] of workflows) {
    assertEquals(/DENO: "(.*)"/.exec(text)?.[1], version, path);
  }
});

Deno.test("actionlint finds nothing to say", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-actionlint-" });
  try {
    const program = await findActionlint(folder);
    await t.step({
      name: "In any workflow",
      ignore: program === undefined,
      fn: async () => assertEquals(await run(program ?? "", [...workflows.keys()]), [0, ""]),
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Returns the program, or says why there is none. */
async function findActionlint(folder: string): Promise<string | undefined> {
  if (await run("actionlint", ["--version"]) !== undefined) return "actionlint";
  const built = await run("go", ["install", ACTIONLINT], { GOBIN: folder, GOFLAGS: "-mod=mod" });
  if (built?.[0] === 0) return join(folder, "actionlint");
  const why = built?.[1].trim().split("\n").at(-1) ?? "neither actionlint nor Go is installed";
  print(`The workflows are not checked by actionlint: ${why}\n`);
  return undefined;
}

/** Returns the exit status and the output, or `undefined` if the program is not installed. */
async function run(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<[number, string] | undefined> {
  try {
    const command = new Deno.Command(program, { args, cwd: ROOT, env, stdin: "null" });
    const { code, stdout, stderr } = await command.output();
    return [code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
