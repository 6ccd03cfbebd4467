import { fromFileUrl, resolve } from "@std/path";
import config from "../deno.json" with { type: "json" };

/** The program's version. */
export const VERSION: string = config.version;

/**
 * The runtime's options: no permission prompts, and no permission to run programs or load libraries. Every build runs with
 * the same permissions, as do the tasks of `deno.json`.
 */
export const RUNTIME_OPTIONS: readonly string[] = [
  "--no-prompt",
  "--allow-net",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys",
];

/** How the program was built. */
export interface Build {
  kind: "from source" | "packed" | "compiled";
  /** The command that starts it, before its arguments. */
  command: readonly [string, ...string[]];
}

/** Returns the build of this process. The head of a packed file sets `KVDRIVE_PACKED` to its path. */
export function currentBuild(env: Record<string, string | undefined>): Build {
  if (Deno.build.standalone) return { kind: "compiled", command: [Deno.execPath()] };
  const pack = env["KVDRIVE_PACKED"];
  if (pack !== undefined && pack !== "") return { kind: "packed", command: [resolve(pack)] };
  const main = fromFileUrl(Deno.mainModule);
  return { kind: "from source", command: [Deno.execPath(), "run", ...RUNTIME_OPTIONS, main] };
}
