import { type CommandResult, spawnProgram } from "../../support/command.ts";

/** Runs the program in a process of its own to its end, however long it takes. */
export async function runProgram(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const { code, stdout, stderr } = await spawnProgram(args, env).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
