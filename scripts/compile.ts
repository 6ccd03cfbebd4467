/**
 * Makes executables of the program: `deno task compile --help`.
 *
 * @module
 */

import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { BUNDLE, bundleDashboard } from "./dashboard/bundle.ts";
import { print, readOptions } from "./package/command_line.ts";
import {
  compileCommand,
  type Contents,
  executableName,
  readContents,
  TARGETS,
} from "./package/executable.ts";
import { findParts, ROOT } from "./package/parts.ts";
import { publish, withWorkshop } from "./package/workshop.ts";

const HELP = `Usage: deno task compile [OPTIONS]

  --target TARGET  compile for another machine (may be repeated)
  --all            compile for all of them
  --out DIR        where the executables go (dist)
  --dry-run        make no executable: print what would be inside
  -h, --help       print this

Targets:
${TARGETS.map((target) => `  ${target}\n`).join("")}`;

const OPTIONS = {
  target: { type: "string", multiple: true, default: [] as string[] },
  all: { type: "boolean", default: false },
  out: { type: "string", default: "dist" },
  "dry-run": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const options = readOptions(args, OPTIONS, HELP, unknownTarget);
  if (typeof options === "number") return options;
  if (options["dry-run"]) {
    print(`${JSON.stringify(await dryRun(), null, 2)}\n`);
    return 0;
  }
  const asked = options.target.length > 0 ? options.target : [undefined];
  let failed = 0;
  for (const target of options.all ? TARGETS : asked) {
    if (!await compile(resolve(options.out), target)) failed++;
  }
  return failed === 0 ? 0 : 1;
}

function unknownTarget({ target }: { target: string[] }): string | undefined {
  const unknown = target.find((one) => !TARGETS.includes(one));
  return unknown === undefined ? undefined : `Unknown target "${unknown}"`;
}

/** Makes one executable; the one that was there stays where that fails. */
async function compile(out: string, target: string | undefined): Promise<boolean> {
  const name = executableName(target);
  return await withWorkshop(out, async (workshop) => {
    const made = join(workshop, name);
    if (!await runCompiler(made, target)) {
      print(
        `${name} was not made. Its runtime is fetched once for each target; "deno task pack" needs none\n`,
      );
      return false;
    }
    const { size } = await Deno.stat(made);
    await publish(made, out, name);
    print(`${join(out, name)}: ${Math.round(size / 1e6)} MB\n`);
    return true;
  });
}

/**
 * What would be inside an executable for this machine. Deno itself stands for the runtime, so nothing is fetched; what
 * comes of that starts Deno and not the program, and is removed.
 */
export async function dryRun(): Promise<Contents> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-compile-" });
  try {
    const made = join(folder, executableName(undefined));
    if (!await runCompiler(made, undefined, { DENORT_BIN: Deno.execPath() })) {
      throw new Error("The dry run of the compiler failed");
    }
    return readContents(await Deno.readFile(made));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function runCompiler(
  output: string,
  target: string | undefined,
  env: Record<string, string> = {},
): Promise<boolean> {
  await bundleDashboard(BUNDLE);
  const args = compileCommand(await findParts(), output, target);
  const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  if (!success) print(new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout));
  return success;
}
