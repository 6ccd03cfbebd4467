/**
 * Makes the packed file and lets the black-box suite drive it: `deno task test:packed [OPTIONS OF deno test]`.
 *
 * @module
 */

import { join } from "@std/path/join";
import { pack } from "../pack.ts";
import { runBlackBox } from "./black_box.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-packed-" });
  try {
    const program = await pack(join(folder, "a folder"));
    return await runBlackBox(program, { KVDRIVE_RUNTIME_DIR: join(folder, "a cache") }, args);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
