/**
 * Bundles the dashboard into the files that the server sends: `deno task dashboard`. The result is built where it is
 * needed, and never checked in.
 *
 * @module
 */

import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { print } from "../package/command_line.ts";
import { ROOT } from "../package/parts.ts";

const SOURCES = join(ROOT, "src/dashboard");

/** The files that the server sends. */
export const BUNDLE = join(SOURCES, "dist");

/** The files that import the rest, and what is bundled of each. */
const ENTRIES = ["main.tsx", "sign_in.tsx", "styles/main.css"];
const BUNDLES = ["main.js", "sign_in.js", "styles/main.css"];
/** The files that are sent as they are. */
const COPIES = ["index.html", "sign_in.html", "styles/icon.svg"];

if (import.meta.main) {
  await bundleDashboard(BUNDLE);
  if (Deno.args.includes("--sizes")) await printSizes();
}

/**
 * Writes the files of the dashboard into a folder. A file that is there already is replaced in one step. The temporary
 * folder is beside that folder, where nothing that packs the files finds it.
 */
export async function bundleDashboard(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const temporary = await Deno.makeTempDir({ dir: dirname(folder), prefix: ".building-" });
  try {
    await bundle(temporary);
    for (const path of COPIES) await Deno.copyFile(join(SOURCES, path), join(temporary, path));
    for (const path of [...BUNDLES, ...COPIES]) {
      await Deno.rename(join(temporary, path), join(folder, basename(path)));
    }
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

/** Bundles all in one process: in a new cache, processes side by side install esbuild over each other, and fail. */
async function bundle(output: string): Promise<void> {
  const options = ["--quiet", "--platform", "browser", "--minify", "--outdir", output];
  const args = ["bundle", ...options, ...ENTRIES];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: SOURCES, stdin: "null" });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
}

async function printSizes(): Promise<void> {
  for await (const { name, isFile } of Deno.readDir(BUNDLE)) {
    if (!isFile) continue;
    const bytes = await Deno.readFile(join(BUNDLE, name));
    const zipped = await new Response(
      new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip")),
    ).bytes();
    print(`${name}: ${bytes.length} bytes, ${zipped.length} compressed\n`);
  }
}
