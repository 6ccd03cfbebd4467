/**
 * Bundles the dashboard into the files that the server sends: `deno task dashboard`. The result is checked in, so that the
 * server runs from its sources without a build.
 *
 * @module
 */

import { join } from "@std/path";
import { print } from "./package/command_line.ts";
import { ROOT } from "./package/parts.ts";

const SOURCES = join(ROOT, "src/dashboard");

/** The files that the server sends. */
export const BUNDLE = join(SOURCES, "dist");

/** The bundles by name, each with the file that imports the rest. */
const BUNDLES = { "main.js": "core/main.js", "main.css": "styles/main.css" };
/** The files that are sent as they are. */
const COPIES = ["index.html", "styles/icon.svg"];

if (import.meta.main) {
  await bundleDashboard(BUNDLE);
  for await (const { name } of Deno.readDir(BUNDLE)) {
    print(`${name}: ${(await Deno.stat(join(BUNDLE, name))).size} bytes\n`);
  }
}

/** Writes the files of the dashboard into a folder. */
export async function bundleDashboard(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, entry] of Object.entries(BUNDLES)) await bundle(entry, join(folder, name));
  for (const path of COPIES) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    await Deno.copyFile(join(SOURCES, path), join(folder, name));
  }
}

async function bundle(entry: string, output: string): Promise<void> {
  const args = [
    "bundle",
    "--quiet",
    "--platform",
    "browser",
    "--minify",
    "--output",
    output,
    entry,
  ];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: SOURCES, stdin: "null" });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
}
