import { dirname, join } from "@std/path";
import config from "../../deno.json" with { type: "json" };
import { filesBelow, isPart, MAIN, ROOT } from "./parts.ts";

/**
 * Puts what a packed file has inside into a folder: the runtime as `deno`, and in `app` the sources and the packages that
 * they import, in a form that needs neither a network nor a cache.
 */
export async function stage(folder: string): Promise<void> {
  const app = join(folder, "app");
  const sources = (await filesBelow(ROOT, "src")).filter(isPart);
  for (const path of [MAIN, "LICENSE", ...sources]) {
    await Deno.mkdir(dirname(join(app, path)), { recursive: true });
    await Deno.copyFile(join(ROOT, path), join(app, path));
  }
  await installPackages(app);
  const runtime = join(folder, "deno");
  await Deno.copyFile(Deno.execPath(), runtime);
  await Deno.chmod(runtime, 0o755);
}

/** Lets Deno make a folder of the packages, in the versions that the lock file has. */
async function installPackages(app: string): Promise<void> {
  const imports = await importsOf(join(app, MAIN));
  await writeConfig(app, imports, "auto");
  await Deno.copyFile(join(ROOT, "deno.lock"), join(app, "deno.lock"));
  await run(app, ["install", "--quiet", "--frozen=false"]);
  await Deno.remove(join(app, "deno.lock"));
  await writeConfig(app, imports, "manual");
}

/** The entries of the import map that the program uses. */
async function importsOf(main: string): Promise<Record<string, string>> {
  // The sources in the folder are without their configuration yet.
  const args = ["info", "--json", "--config", join(ROOT, "deno.json"), main];
  const { redirects } = JSON.parse(await run(ROOT, args)) as { redirects: Record<string, string> };
  return Object.fromEntries(
    Object.entries(config.imports).filter(([, specifier]) => Object.hasOwn(redirects, specifier)),
  );
}

async function writeConfig(
  app: string,
  imports: Record<string, string>,
  nodeModulesDir: "auto" | "manual",
): Promise<void> {
  const { name, version, license, exports, unstable } = config;
  // A packed file has its modules inside, so there is nothing to lock.
  const lock = nodeModulesDir === "auto" ? undefined : false;
  const own = { name, version, license, exports, unstable };
  const text = JSON.stringify({ ...own, imports, nodeModulesDir, lock });
  await Deno.writeTextFile(join(app, "deno.json"), text);
}

async function run(cwd: string, args: string[]): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), { args, cwd, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`deno ${args[0]} failed: ${new TextDecoder().decode(stderr)}`);
}
