import { fromFileUrl } from "@std/path/from-file-url";
import { resolve } from "@std/path/resolve";
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

/** Returns the option of the runtime that lets a server start itself as several processes, and no other program. */
export function runPermission({ command: [program] }: Build): string {
  return `--allow-run=${program}`;
}

/** Returns a build whose command may start itself. Launchers see from the arguments when it has to. */
export function withRunPermission(build: Build): Build {
  const [program, run, ...rest] = build.command;
  if (run !== "run") return build;
  return { ...build, command: [program, run, runPermission(build), ...rest] };
}

/** How the program was built. */
export interface Build {
  kind: "from source" | "packed" | "compiled";
  /** The command that starts it, before its arguments. */
  command: readonly [string, ...string[]];
}

/** Returns how this process was built. The head of a packed file sets `KVDRIVE_PACKED` to its path. */
export function buildKind(env: Record<string, string | undefined>): Build["kind"] {
  if (Deno.build.standalone) return "compiled";
  return (env["KVDRIVE_PACKED"] ?? "") === "" ? "from source" : "packed";
}

/**
 * Returns the build of this process. The launcher of the npm package, which has the sources inside, sets
 * `KVDRIVE_LAUNCHER` to its path.
 */
export function currentBuild(env: Record<string, string | undefined>): Build {
  const kind = buildKind(env);
  if (kind === "compiled") return { kind, command: [Deno.execPath()] };
  if (kind === "packed") return { kind, command: [resolve(env["KVDRIVE_PACKED"] ?? "")] };
  const launcher = env["KVDRIVE_LAUNCHER"] ?? "";
  if (launcher !== "") return { kind, command: [resolve(launcher)] };
  // A program from JSR is no file, and has no configuration beside it.
  const main = Deno.mainModule.startsWith("file:")
    ? [fromFileUrl(Deno.mainModule)]
    : [...config.unstable.map((feature) => `--unstable-${feature}`), Deno.mainModule];
  return { kind, command: [Deno.execPath(), "run", ...RUNTIME_OPTIONS, ...main] };
}
