/**
 * Makes the npm packages: `deno task npm --help`.
 *
 * @module
 */

import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { CLIENT_PACKAGE, makeClientPackage } from "./client/package.ts";
import { BUNDLE, bundleDashboard } from "./dashboard/bundle.ts";
import { print, readOptions } from "./package/command_line.ts";
import { makeNpmPackage, PACKAGE_NAME } from "./package/npm_package.ts";
import { publish, withWorkshop } from "./package/workshop.ts";

const HELP = `Usage: deno task npm [--out DIR]

  --out DIR   where ${PACKAGE_NAME} and ${CLIENT_PACKAGE} go (dist/npm)
  -h, --help  print this
`;

const OPTIONS = {
  out: { type: "string", default: "dist/npm" },
  help: { type: "boolean", short: "h", default: false },
} as const;

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const options = readOptions(args, OPTIONS, HELP);
  if (typeof options === "number") return options;
  for (const make of [makePackage, makeClientPackage]) {
    const path = await make(resolve(options.out));
    print(`${path}: ${((await Deno.stat(path)).size / 1e6).toFixed(2)} MB\n`);
  }
  return 0;
}

/** Makes the npm package of the server in a folder and returns its path. If that fails, the previous file is kept. */
export async function makePackage(out: string): Promise<string> {
  await bundleDashboard(BUNDLE);
  return await withWorkshop(out, async (workshop) => {
    const made = join(workshop, PACKAGE_NAME);
    await makeNpmPackage(workshop, made);
    await publish(made, out, PACKAGE_NAME);
    return join(out, PACKAGE_NAME);
  });
}
