import { helpText } from "./help.ts";
import { givenCredentials } from "./credentials.ts";
import { parseServeOptions } from "./options.ts";
import { print, printError } from "./output.ts";
import { serve } from "./serve.ts";
import { StartError, UsageError } from "./usage_error.ts";
import { VERSION } from "./version.ts";

/** Runs a command line and gives the exit status: 2 for one that cannot be followed, 1 where starting failed. */
export async function runCommand(
  args: string[],
  env: Record<string, string | undefined>,
): Promise<number> {
  try {
    await dispatch(args, env);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof StartError)) throw error;
    printError(`kvdrive: ${error.message.replaceAll(/\s+/g, " ")}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function dispatch(
  [command, ...rest]: string[],
  env: Record<string, string | undefined>,
): Promise<void> {
  if (command === undefined) {
    throw new UsageError("No command is given: try kvdrive serve, or kvdrive help");
  }
  const asksHelp = command === "help" ||
    [command, ...rest].some((arg) => arg === "--help" || arg === "-h");
  if (asksHelp) return print(helpText(VERSION));
  if (command === "version" || command === "--version") return print(`kvdrive ${VERSION}\n`);
  if (command !== "serve") throw new UsageError(`Unknown command "${command}": see kvdrive help`);
  await serve(parseServeOptions(rest, env), givenCredentials(env));
}
