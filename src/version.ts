import { fromFileUrl, resolve } from "@std/path";
import config from "../deno.json" with { type: "json" };
import type { Environment } from "./cli/terminal/output.ts";

/** The program's version. */
export const VERSION: string = config.version;

/**
 * The runtime's options that the program needs: no questions, and no right to run programs or to load libraries.
 * The tasks in `deno.json` and both kinds of executable have the same.
 */
export const RUNTIME_OPTIONS: readonly string[] = [
  "--no-prompt",
  "--allow-net",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys",
];

/** In which form somebody has the program. */
export interface Build {
  kind: "from source" | "packed" | "compiled";
  /** The words that start it; its arguments follow. */
  command: readonly [string, ...string[]];
}

/** What this process runs from. The head of a packed file says where that file is. */
export function currentBuild(env: Environment): Build {
  if (Deno.build.standalone) return { kind: "compiled", command: [Deno.execPath()] };
  const pack = env["KVDRIVE_PACKED"];
  if (pack !== undefined && pack !== "") return { kind: "packed", command: [resolve(pack)] };
  const main = fromFileUrl(Deno.mainModule);
  return { kind: "from source", command: [Deno.execPath(), "run", ...RUNTIME_OPTIONS, main] };
}
