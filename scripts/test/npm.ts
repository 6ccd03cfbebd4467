/**
 * Makes the npm package, installs it into an empty folder as `npm install --global` does, and lets the black-box suite drive
 * it: `deno task test:npm [OPTIONS OF deno test]`. It needs npm, whose registry has the package of the runtime. Tests of
 * races and other slow ones are left out: the packed file runs them, with the same program inside.
 *
 * @module
 */

import { join } from "@std/path/join";
import { makePackage } from "../npm.ts";
import { installGlobally } from "../package/npm_prefix.ts";
import { runBlackBox } from "./black_box.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-npm-" });
  try {
    const program = await installGlobally(await makePackage(folder), join(folder, "a prefix"));
    return await runBlackBox(program, {}, args, (file) => file.endsWith("_slow_test.ts"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
