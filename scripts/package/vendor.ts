import { join } from "@std/path/join";
import config from "../../deno.json" with { type: "json" };
import { findParts, MAIN, ROOT } from "./parts.ts";

/** The folder of the bundled packages, and the file in it with their licences. */
const FOLDER = "vendor";
const LICENSES = "LICENSES.txt";

/** The part of `deno info --json` that is read here. */
interface Graph {
  modules: { npmPackage?: string; dependencies?: { code?: { specifier?: string } }[] }[];
  npmPackages: Record<string, NpmPackage>;
}

interface NpmPackage {
  name: string;
  version: string;
  dependencies: string[];
  /** Its folder in the cache of Deno. */
  localPath: string;
}

/**
 * Bundles the packages that the program imports into a folder of modules, in the versions of the lock file, so that the
 * program finds them without a network, a cache or a `node_modules` folder.
 *
 * @returns the import map for them, relative to the program's folder.
 */
export async function vendorPackages(app: string): Promise<Record<string, string>> {
  const graphs = await Promise.all((await entryPoints()).map(readGraph));
  const wanted = new Set(graphs.flatMap(specifiersOf));
  const entries = Object.entries(config.imports).filter(([, specifier]) => wanted.has(specifier));
  const vendor = join(app, FOLDER);
  await bundle(entries, vendor);
  await Deno.writeTextFile(join(vendor, LICENSES), await licensesOf(graphs));
  return Object.fromEntries(entries.map(([name]) => [name, `./${FOLDER}/${fileName(name)}.js`]));
}

/** The main module and the workers, whose imports are not among those of the main module. */
async function entryPoints(): Promise<string[]> {
  return [MAIN, ...(await findParts()).included.filter((path) => path.endsWith(".ts"))];
}

async function readGraph(path: string): Promise<Graph> {
  return JSON.parse(await runDeno(["info", "--json", path])) as Graph;
}

function specifiersOf({ modules }: Graph): string[] {
  return modules.flatMap(({ dependencies = [] }) =>
    dependencies.flatMap(({ code }) => code?.specifier ?? [])
  );
}

/** Bundles each import into a module of its own; what several share is in further ones. */
async function bundle(entries: [name: string, specifier: string][], folder: string): Promise<void> {
  const sources = await Deno.makeTempDir({ prefix: "kvdrive-vendor-" });
  try {
    const paths = await Promise.all(entries.map(async ([name, specifier]) => {
      const path = join(sources, `${fileName(name)}.js`);
      await Deno.writeTextFile(path, await entrySource(specifier));
      return path;
    }));
    const options = ["--quiet", "--platform", "deno", "--code-splitting", "--outdir", folder];
    await runDeno(["bundle", ...options, ...paths]);
    for await (const { name } of Deno.readDir(folder)) await removePaths(join(folder, name));
  } finally {
    await Deno.remove(sources, { recursive: true });
  }
}

/** Removes the paths of this machine that the bundler names in comments and in the names of CommonJS modules. */
async function removePaths(file: string): Promise<void> {
  const text = await Deno.readTextFile(file);
  const cached = text.replaceAll(/(\.\.\/)+[^"\n]*?\/npm\/(?=registry\.npmjs\.org\/)/g, "");
  await Deno.writeTextFile(file, cached.replaceAll(/^ *\/\/ (\.\.\/)+\S+\n/gm, ""));
}

/**
 * The source of a module that exports what a package does. The names are listed, as `export *` has neither the default
 * export nor the names of a CommonJS module. The bundler may choose another build of a package than the runtime, one that
 * lacks the default export, so they are read from the module's object and not imported.
 */
async function entrySource(specifier: string): Promise<string> {
  const names = Object.keys(await import(specifier) as object);
  // The runtime adds the name "module.exports" to those of a CommonJS module.
  const plain = names.filter((name) => name !== "default" && name !== "module.exports");
  const lines = [
    `import * as all from "${specifier}";`,
    `export const { ${plain.join(", ")} } = all;`,
  ];
  if (names.includes("default")) lines.push("export default all.default;");
  return `${lines.join("\n")}\n`;
}

/** `@std/async/delay` is in `std-async-delay.js`. */
function fileName(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, "-").replace(/^-/, "");
}

/** The licences of all packages that may be in the bundles, as each of them demands. */
async function licensesOf(graphs: readonly Graph[]): Promise<string> {
  const packages = new Map<string, NpmPackage>();
  for (const { modules, npmPackages } of graphs) {
    const open = modules.flatMap(({ npmPackage }) => npmPackage ?? []);
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const found = npmPackages[id];
      if (found === undefined || packages.has(id)) continue;
      packages.set(id, found);
      open.push(...found.dependencies);
    }
  }
  const sorted = [...packages].toSorted(([one], [other]) => one < other ? -1 : 1);
  const texts = sorted.map(async ([, { name, version, localPath }]) =>
    `${name} ${version}\n\n${(await licenseText(localPath)).trim()}\n`
  );
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}

/** The licence file of a package, else what its `package.json` says. */
async function licenseText(folder: string): Promise<string> {
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile && /^licen[cs]e/i.test(name)) return await Deno.readTextFile(join(folder, name));
  }
  const text = await Deno.readTextFile(join(folder, "package.json"));
  return String((JSON.parse(text) as { license?: unknown }).license);
}

async function runDeno(args: string[]): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`deno ${args[0]} failed: ${new TextDecoder().decode(stderr)}`);
}
