/**
 * Makes the packed file and tests it: `deno task test:packed [--all] [OPTIONS OF deno test]`. `--all` runs the whole
 * black-box suite, in about ten minutes.
 *
 * @module
 */

import { join } from "@std/path/join";
import { pack } from "../pack.ts";
import { PACKED_FILE, parseAll, runBlackBox } from "./black_box.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(options: string[]): Promise<number> {
  const { isAll, args } = parseAll(options);
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-packed-" });
  try {
    const program = await pack(join(folder, "a folder"));
    const env = { KVDRIVE_RUNTIME_DIR: join(folder, "a cache") };
    return await runBlackBox({
      program,
      env,
      args,
      ...isAll ? {} : { files: PACKED_FILE },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
