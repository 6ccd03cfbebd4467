import type { Scope } from "../scope.ts";
import { findProgram } from "./process.ts";

/** A program that can be asked for its version. */
interface Program {
  name: string;
  program: string;
  version: readonly string[];
}

/** The name and the version of a server. */
export async function versionLine(
  scope: Scope,
  { name, program, version }: Program,
): Promise<string> {
  const path = await findProgram(program) ?? program;
  const found = versionIn(await outputOf(scope, path, version)) ??
    moduleVersionIn(await outputOf(scope, "go", ["version", "-m", path]));
  return `${name} ${found ?? "of an unknown version"}`;
}

/** The version in the first line of an output: `1.2`, `v1.2.3-rc.1`, `RELEASE.2025-01-02T03-04-05Z`. */
export function versionIn(output: string): string | undefined {
  const [line = ""] = output.split("\n");
  const [, number, release] = /(?<![\w.])v?(\d+\.\d[\w.+-]*)|\bRELEASE\.(\S+)/.exec(line) ?? [];
  return number ?? release;
}

/** The version of the module that a Go program was built from, for those which do not know it themselves. */
export function moduleVersionIn(output: string): string | undefined {
  return /^\s*mod\s+\S+\s+v(\S+)/m.exec(output)?.[1];
}

/** What a program prints; nothing if it is not installed. */
async function outputOf(
  scope: Scope,
  command: string,
  args: readonly string[],
): Promise<string> {
  try {
    const child = scope.spawn(command, { args: [...args], stdout: "piped", stderr: "piped" });
    const { stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return decoder.decode(stdout) + decoder.decode(stderr);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
