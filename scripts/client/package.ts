/**
 * Makes the npm package of the client: one ES module without dependencies, and its type declarations.
 *
 * @module
 */
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import config from "../../deno.json" with { type: "json" };
import { writeArchive } from "../package/pack_file.ts";
import { filesBelow, ROOT } from "../package/parts.ts";
import { publish, withWorkshop } from "../package/workshop.ts";

/** The name of the package's file. */
export const CLIENT_PACKAGE = `kvdrive-client-${config.version}.tgz`;

const ENTRY = "src/client/mod.ts";

/** Makes the package in a folder and returns its path. If that fails, the previous file is kept. */
export async function makeClientPackage(out: string): Promise<string> {
  return await withWorkshop(out, async (workshop) => {
    // All that npm asks of an archive is one folder around the files.
    const folder = join(workshop, "inside/package");
    await Deno.mkdir(folder, { recursive: true });
    await bundleClient(join(folder, "mod.js"));
    await writeDeclarations(join(workshop, "sources"), folder);
    await Deno.copyFile(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
    await Deno.copyFile(new URL("README.md", import.meta.url), join(folder, "README.md"));
    await Deno.writeTextFile(
      join(folder, "package.json"),
      `${JSON.stringify(packageJson(), undefined, 2)}\n`,
    );
    const made = join(workshop, CLIENT_PACKAGE);
    await writeArchive(dirname(folder), made);
    await publish(made, out, CLIENT_PACKAGE);
    return join(out, CLIENT_PACKAGE);
  });
}

/** Writes the client as one file for every runtime. */
export async function bundleClient(output: string, ...options: string[]): Promise<void> {
  await deno(["bundle", "--quiet", "--platform", "browser", ...options, "-o", output, ENTRY], ROOT);
}

/** Writes the type declarations. `deno pack` derives them, but makes a package of many modules. */
async function writeDeclarations(sources: string, folder: string): Promise<void> {
  for (const path of await modulesOf(ENTRY)) {
    await Deno.mkdir(dirname(join(sources, path)), { recursive: true });
    await Deno.copyFile(join(ROOT, path), join(sources, path));
  }
  const { version, license } = config;
  const own = { name: "@kvdrive/client", version, license, exports: `./${ENTRY}` };
  await Deno.writeTextFile(join(sources, "deno.json"), JSON.stringify(own));
  await deno(["pack", "--quiet", "--allow-dirty", "--output", "types.tgz"], sources);
  await run("tar", ["-xzf", "types.tgz"], sources);
  const client = join(sources, "package", dirname(ENTRY));
  for (const path of await filesBelow(client, ".")) {
    if (!path.endsWith(".d.ts")) continue;
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.copyFile(join(client, path), join(folder, path));
  }
}

/** The source files that a file imports, directly or not, and itself. */
async function modulesOf(path: string): Promise<string[]> {
  const text = await deno(["info", "--json", "--no-config", path], ROOT);
  const { modules } = JSON.parse(text) as { modules: { specifier: string }[] };
  return modules.map(({ specifier }) => fromFileUrl(specifier).slice(ROOT.length));
}

function packageJson(): Record<string, unknown> {
  return {
    name: "kvdrive-client",
    version: config.version,
    description: "The typed client of kvdrive, a self-hosted file storage server",
    license: config.license,
    type: "module",
    sideEffects: false,
    types: "./mod.d.ts",
    exports: { ".": { types: "./mod.d.ts", default: "./mod.js" } },
    engines: { node: ">=20" },
  };
}

async function deno(args: string[], cwd: string): Promise<string> {
  return await run(Deno.execPath(), args, cwd);
}

async function run(program: string, args: string[], cwd: string): Promise<string> {
  const command = new Deno.Command(program, { args, cwd, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  throw new Error(`${program} ${args[0]} failed: ${decoder.decode(stderr)}`);
}
