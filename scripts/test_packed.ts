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
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-packed-" });
  try {
    const command = new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "--quiet",
        "--parallel",
        "--no-prompt",
        "--no-check",
        "-A",
        "--ignore=tests/faults,tests/browser",
        ...args,
        "tests",
      ],
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
