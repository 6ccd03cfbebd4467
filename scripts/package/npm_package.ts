import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import config from "../../deno.json" with { type: "json" };
import { RUNTIME_OPTIONS } from "../../src/version.ts";
import { fillTemplate, writeArchive } from "./pack_file.ts";
import { ROOT } from "./parts.ts";
import { stageProgram } from "./stage.ts";

const LAUNCHER = new URL("./launcher.sh", import.meta.url);
/** Where the launcher is in the package. */
const COMMAND = "bin/kvdrive";

/** The name of the package's file. */
export const PACKAGE_NAME: string = `kvdrive-${config.version}.tgz`;

/** Makes the npm package: the program, and a launcher that finds the runtime among the dependencies. */
export async function makeNpmPackage(workshop: string, output: string): Promise<void> {
  // All that npm asks of an archive is one folder around the files.
  const around = join(workshop, "inside");
  const folder = join(around, "package");
  await stageProgram(folder);
  await Deno.copyFile(join(ROOT, "README.md"), join(folder, "README.md"));
  await Deno.writeTextFile(
    join(folder, "package.json"),
    `${JSON.stringify(packageJson(), undefined, 2)}\n`,
  );
  await Deno.mkdir(join(folder, dirname(COMMAND)));
  await writeLauncher(join(folder, COMMAND));
  await writeArchive(around, output);
}

/** Writes the script that is the command `kvdrive`. */
export async function writeLauncher(path: string): Promise<void> {
  const values = {
    VERSION: config.version,
    OPTIONS: [...RUNTIME_OPTIONS, "--deny-import"].join(" "),
  };
  await Deno.writeTextFile(path, await fillTemplate(LAUNCHER, values), { mode: 0o755 });
}

/** What npm has to know of the package. */
export function packageJson(): Record<string, unknown> {
  return {
    name: "kvdrive",
    version: config.version,
    description: "A self-hosted file storage server",
    license: config.license,
    type: "module",
    bin: { kvdrive: COMMAND },
    // The systems that the runtime is there for, and that have a shell for the launcher.
    os: ["linux", "darwin"],
    cpu: ["x64", "arm64"],
    dependencies: { deno: Deno.version.deno },
  };
}
