import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import config from "../../deno.json" with { type: "json" };
import { filesBelow, isPart, MAIN, ROOT } from "./parts.ts";
import { vendorPackages } from "./vendor.ts";

/** Puts what a packed file has inside into a folder: the runtime as `deno`, and the program in `app`. */
export async function stage(folder: string): Promise<void> {
  await stageProgram(join(folder, "app"));
  const runtime = join(folder, "deno");
  await Deno.copyFile(Deno.execPath(), runtime);
  await Deno.chmod(runtime, 0o755);
}

/**
 * Puts the program into a folder: the sources and the packages that they import, in a form that needs neither a network nor
 * a cache, and that runs in any folder with `--config deno.json`.
 */
export async function stageProgram(app: string): Promise<void> {
  const sources = (await filesBelow(ROOT, "src")).filter(isPart);
  for (const path of [MAIN, "LICENSE", ...sources]) {
    await Deno.mkdir(dirname(join(app, path)), { recursive: true });
    await Deno.copyFile(join(ROOT, path), join(app, path));
  }
  const { name, version, license, exports, unstable } = config;
  const imports = await vendorPackages(app);
  // No `node_modules` is looked for, although the program may lie in one, and there is nothing to lock.
  const own = { name, version, license, exports, unstable, imports, nodeModulesDir: "none" };
  const text = JSON.stringify({ ...own, lock: false }, undefined, 2);
  await Deno.writeTextFile(join(app, "deno.json"), `${text}\n`);
}
