import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import { type CommandResult, spawnProgram } from "../../support/command.ts";

/** Runs the program in a process of its own to its end, however long it takes. */
export async function runProgram(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  return resultOf(await spawnProgram(args, env).output());
}

/** Runs the program, which stands still during some work: its middle is neither missed nor over too soon. */
export async function runAround(
  args: readonly string[],
  isInMiddle: () => Promise<boolean>,
  work: () => Promise<void>,
): Promise<CommandResult> {
  const process = spawnProgram(args, {});
  let hasEnded = false;
  const output = process.output().finally(() => hasEnded = true);
  while (!await isInMiddle()) {
    assert(!hasEnded, `It ended before its middle: ${args.join(" ")}`);
    await delay(5);
  }
  process.kill("SIGSTOP");
  try {
    await work();
  } finally {
    process.kill("SIGCONT");
  }
  return resultOf(await output);
}

function resultOf({ code, stdout, stderr }: Deno.CommandOutput): CommandResult {
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
