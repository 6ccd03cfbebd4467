import { join } from "@std/path";
import { ROOT } from "../package/parts.ts";

/**
 * Lets the tests right in `tests/` drive an executable in place of the sources: those of crashes and of the browser are in
 * folders of their own.
 *
 * @param args More options of `deno test`.
 * @param leftOut Tests that say nothing of it.
 * @returns its exit status.
 */
export async function runBlackBox(
  program: string,
  env: Record<string, string>,
  args: readonly string[],
  leftOut: ReadonlySet<string> = new Set(),
): Promise<number> {
  const tests: string[] = [];
  for await (const { name } of Deno.readDir(join(ROOT, "tests"))) {
    if (name.endsWith("_test.ts") && !leftOut.has(name)) tests.push(`tests/${name}`);
  }
  const command = new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", "--parallel", "--no-prompt", "-A", ...args, ...tests.toSorted()],
    cwd: ROOT,
    env: { ...env, KVDRIVE_TEST_PROGRAM: program },
    stdin: "null",
  });
  return (await command.spawn().status).code;
}
