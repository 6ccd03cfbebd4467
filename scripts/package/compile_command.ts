import { RUNTIME_OPTIONS } from "../../src/cli/edition.ts";
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
export function compileWords(
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
