import { join } from "@std/path";
import type { Environment } from "./given_values.ts";

/** Where this system keeps what a program remembers between two runs; `undefined` where nobody says. */
export function stateFolder(env: Environment, system: typeof Deno.build.os): string | undefined {
  const home = env["HOME"] || undefined;
  const inHome = (...path: string[]) => home && join(home, ...path);
  const base = system === "windows" ? env["LOCALAPPDATA"] || undefined : env["XDG_STATE_HOME"] ||
    (system === "darwin" ? inHome("Library", "Application Support") : inHome(".local", "state"));
  return base && join(base, "kvdrive", "uploads");
}
