/**
 * Makes the packed file and lets the black-box suite drive it: `deno task test:packed [OPTIONS OF deno test]`.
 *
 * @module
 */
import { join } from "@std/path";
import { pack } from "./pack.ts";
import { ROOT } from "./package/parts.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const tests = await testsOf("tests");
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-packed-" });
  try {
    const command = new Deno.Command(Deno.execPath(), {
      args: ["test", "--quiet", "--parallel", "--no-prompt", "-A", ...args, ...tests],
      cwd: ROOT,
      env: {
        KVDRIVE_TEST_PROGRAM: await pack(join(folder, "a folder")),
        KVDRIVE_RUNTIME_DIR: join(folder, "a cache"),
      },
      stdin: "null",
    });
    return (await command.spawn().status).code;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The tests right in a folder: those of crashes and of the browser are in folders of their own. */
async function testsOf(folder: string): Promise<string[]> {
  const tests: string[] = [];
  for await (const { name } of Deno.readDir(join(ROOT, folder))) {
    if (name.endsWith("_test.ts")) tests.push(`${folder}/${name}`);
  }
  return tests.toSorted();
}
