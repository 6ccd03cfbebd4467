import { RUNTIME_OPTIONS } from "../../src/version.ts";
import { MAIN, type Parts } from "./parts.ts";

/** What `deno compile` can make executables for: Linux, macOS and Windows, each for both processors. */
export const TARGETS: readonly string[] = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
  "aarch64-pc-windows-msvc",
];

/** The name of an executable; without a target it is for this machine. */
export function executableName(target: string | undefined, os: string = Deno.build.os): string {
  const isWindows = target === undefined ? os === "windows" : target.includes("windows");
  return `kvdrive${target === undefined ? "" : `-${target}`}${isWindows ? ".exe" : ""}`;
}

/** The words behind `deno` that make an executable. */
export function compileCommand(
  { included, excluded }: Parts,
  output: string,
  target?: string,
): string[] {
  return [
    "compile",
    "--quiet",
    // The gate before each commit checks the types.
    "--no-check",
    // Of the packages, none that only tests and scripts import.
    "--exclude-unused-npm",
    "--app-name",
    "kvdrive",
    ...RUNTIME_OPTIONS,
    // Nothing is imported that is not inside.
    "--deny-import",
    ...included.flatMap((path) => ["--include", path]),
    ...excluded.flatMap((path) => ["--exclude", path]),
    ...(target === undefined ? [] : ["--target", target]),
    "--output",
    output,
    MAIN,
  ];
}

/** What `deno compile` put behind the runtime. */
export interface Contents {
  /** How the runtime starts the program: its permissions, features and version among others. */
  metadata: Metadata;
  /** The embedded files, as paths below the program's root. */
  files: string[];
}

/** The part of it that the project decides on. */
export interface Metadata {
  argv: string[];
  permissions: Record<string, unknown>;
  entrypoint_key: string;
  unstable_config: { features: string[] };
  app_name: string;
  app_version: string;
}

/** Stands twice before the metadata. */
const MAGIC = new TextEncoder().encode("d3n0l4ndd3n0l4nd");
/** How the list of files begins. */
const TREE = new TextEncoder().encode('[{"');
const LENGTH_BYTES = 8;

/**
 * Reads what is inside an executable of `deno compile`. Its form is documented nowhere: this is what Deno 2.9 writes.
 *
 * @throws {Error} where the file has another form.
 */
export function readContents(file: Uint8Array<ArrayBuffer>): Contents {
  const start = lastIndexOf(file, MAGIC);
  if (start === -1) throw new Error("There is no program behind the runtime");
  const metadata = new Sized(file, start + MAGIC.byteLength);
  const tree = new Sized(file, indexOf(file, TREE, metadata.end) - LENGTH_BYTES);
  return {
    metadata: JSON.parse(metadata.text) as Metadata,
    files: (JSON.parse(tree.text) as Entry[]).flatMap((entry) => pathsOf(entry)),
  };
}

type Entry = { Dir: { n: string; e: Entry[] } } | { File: { n: string } } | {
  Symlink: { n: string };
};

function pathsOf(entry: Entry, above = ""): string[] {
  if ("Dir" in entry) {
    const { n, e } = entry.Dir;
    return e.flatMap((one) => pathsOf(one, `${above}${n}/`));
  }
  return [above + ("File" in entry ? entry.File.n : entry.Symlink.n)];
}

/** A text behind its length. */
class Sized {
  readonly text: string;
  readonly end: number;

  constructor(file: Uint8Array<ArrayBuffer>, at: number) {
    const start = at + LENGTH_BYTES;
    const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(at, true));
    this.end = start + length;
    if (this.end > file.byteLength) throw new Error("The program behind the runtime is cut short");
    this.text = new TextDecoder("utf-8", { fatal: true }).decode(file.subarray(start, this.end));
  }
}

function indexOf(file: Uint8Array, wanted: Uint8Array, from: number): number {
  let at = file.indexOf(wanted[0] ?? 0, from);
  while (at !== -1 && !isAt(file, wanted, at)) at = file.indexOf(wanted[0] ?? 0, at + 1);
  return at;
}

function lastIndexOf(file: Uint8Array, wanted: Uint8Array): number {
  let at = file.lastIndexOf(wanted[0] ?? 0);
  while (at > 0 && !isAt(file, wanted, at)) at = file.lastIndexOf(wanted[0] ?? 0, at - 1);
  return at > 0 ? at : -1;
}

function isAt(file: Uint8Array, wanted: Uint8Array, at: number): boolean {
  return wanted.every((byte, index) => file[at + index] === byte);
}
