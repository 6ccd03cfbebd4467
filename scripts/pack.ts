/**
 * Makes one file of the program and the Deno that runs this: `deno task pack --help`.
 *
 * @module
 */

import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import config from "../deno.json" with { type: "json" };
import { BUNDLE, bundleDashboard } from "./dashboard/bundle.ts";
import { print, readOptions } from "./package/command_line.ts";
import { packFile } from "./package/pack_file.ts";
import { stage } from "./package/stage.ts";
import { publish, withWorkshop } from "./package/workshop.ts";

const NAME = "kvdrive-packed";

const HELP = `Usage: deno task pack [--out DIR]

  --out DIR   where ${NAME} goes (dist)
  -h, --help  print this
`;

const OPTIONS = {
  out: { type: "string", default: "dist" },
  help: { type: "boolean", short: "h", default: false },
} as const;

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const options = readOptions(args, OPTIONS, HELP);
  if (typeof options === "number") return options;
  const path = await pack(resolve(options.out));
  print(`${path}: ${Math.round((await Deno.stat(path)).size / 1e6)} MB\n`);
  return 0;
}

/** Makes the packed file in a folder and returns its path. If that fails, the previous file is kept. */
export async function pack(out: string): Promise<string> {
  await bundleDashboard(BUNDLE);
  return await withWorkshop(out, async (workshop) => {
    const inside = join(workshop, "inside");
    await stage(inside);
    const made = join(workshop, NAME);
    await packFile(inside, made, config.version);
    await publish(made, out, NAME);
    return join(out, NAME);
  });
}
