import { join } from "@std/path/join";
import { RUNTIME_OPTIONS } from "../../src/version.ts";
import { filesBelow } from "./parts.ts";
import { sha256Of } from "./workshop.ts";

/** The checksums of the unpacked files, in the form that `sha256sum -c` reads. */
const SUMS = "SHA256SUMS";

const HEAD = new URL("./head.sh", import.meta.url);

/** Makes a packed file of what lies in a folder: the runtime as `deno`, the program in `app`. */
export async function packFile(folder: string, output: string, version: string): Promise<void> {
  const archive = `${output}.tar.gz`;
  await writeSums(folder);
  await writeArchive(folder, archive);
  const head = await headFor({
    version,
    sha256: await sha256Of(archive),
    sumsSha256: await sha256Of(join(folder, SUMS)),
    bytes: await sizeOf(folder),
  });
  using file = await Deno.open(output, { write: true, createNew: true, mode: 0o755 });
  await file.write(new TextEncoder().encode(head));
  using source = await Deno.open(archive);
  await source.readable.pipeTo(file.writable);
  await Deno.remove(archive);
}

/** Writes the checksums of all files in a folder into it, by which each start checks what was unpacked. */
async function writeSums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const path of await filesBelow(folder, ".")) {
    const name = path.slice("./".length);
    // Links have no bytes of their own: what they lead to is among the files.
    if (name === SUMS || !(await Deno.lstat(join(folder, path))).isFile) continue;
    if (!/^[\w.@+\/-]+$/.test(name)) throw new Error(`The name ${name} needs quoting in a shell`);
    lines.push(`${await sha256Of(join(folder, path))}  ${name}\n`);
  }
  await Deno.writeTextFile(join(folder, SUMS), lines.join(""));
}

/** The shell's part of a packed file. */
async function headFor(
  { version, sha256, sumsSha256, bytes }: {
    version: string;
    sha256: string;
    sumsSha256: string;
    bytes: number;
  },
): Promise<string> {
  return await fillTemplate(HEAD, {
    VERSION: version,
    SHA256: sha256,
    SUMS_SHA256: sumsSha256,
    FIRST_LINE: (await Deno.readTextFile(HEAD)).split("\n").length,
    MEGABYTES: Math.ceil(bytes / 1e6),
    SYSTEM: Deno.build.target,
    OPTIONS: [...RUNTIME_OPTIONS, "--deny-import"].join(" "),
  });
}

/** Reads a script of a shell, and puts values in the place of their names: `@VERSION@`. */
export async function fillTemplate(
  file: URL,
  values: Record<string, string | number>,
): Promise<string> {
  return (await Deno.readTextFile(file)).replaceAll(/@([A-Z0-9_]+)@/g, (_, name) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`The script asks for ${name}`);
    return String(value);
  });
}

/** Files in the order of their names, so that the same files make the same archive wherever that can be had. */
export async function writeArchive(folder: string, archive: string): Promise<void> {
  const paths = (await filesBelow(folder, ".")).map((path) => path.slice("./".length));
  const command = new Deno.Command("tar", {
    args: ["-cf", "-", "-C", folder, "-T", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  });
  const tar = command.spawn();
  const names = new Response(paths.map((path) => `${path}\n`).join("")).body;
  const file = await Deno.open(archive, { write: true, createNew: true });
  await Promise.all([
    names?.pipeTo(tar.stdin),
    tar.stdout.pipeThrough(new CompressionStream("gzip")).pipeTo(file.writable),
  ]);
  if (!(await tar.status).success) throw new Error("tar failed");
}

async function sizeOf(folder: string): Promise<number> {
  const paths = await filesBelow(folder, ".");
  const sizes = await Promise.all(paths.map((path) => Deno.stat(join(folder, path))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
