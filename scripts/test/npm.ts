/**
 * Makes the npm package, installs it into an empty folder as `npm install --global` does, and tests it:
 * `deno task test:npm [--all] [OPTIONS OF deno test]`. It needs npm, whose registry has the package of the runtime. `--all`
 * runs the whole black-box suite, in about ten minutes.
 *
 * @module
 */

import { join } from "@std/path/join";
import { makePackage } from "../npm.ts";
import { installGlobally } from "../package/npm_prefix.ts";
import { EVERY_FORM, parseAll, runBlackBox } from "./black_box.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(options: string[]): Promise<number> {
  const { isAll, args } = parseAll(options);
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-npm-" });
  try {
    const program = await installGlobally(await makePackage(folder), join(folder, "a prefix"));
    return await runBlackBox({ program, args, ...isAll ? {} : { files: EVERY_FORM } });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
