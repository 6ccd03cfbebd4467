import { ClientError, KvdriveError } from "../client/errors.ts";
import { RepositoryError } from "../repository/errors.ts";
import { Refusal } from "../rules/error_codes.ts";
import { StoreFull } from "../store/disk/disk_space.ts";
import {
  CannotBackUp,
  CannotOpenStore,
  CannotRestore,
  StoreDamaged,
  StoreUnavailable,
} from "../store/engine/errors.ts";
import { VERSION } from "../version.ts";
import { COMMANDS, SECTIONS } from "./commands.ts";
import type { Command } from "./options/command.ts";
import { parseCommandLine } from "./options/parser.ts";
import {
  CommandError,
  type Environment,
  ExitWith,
  OUTPUT_CLOSED_STATUS,
  OutputClosed,
  print,
  printNotice,
  StartError,
  UsageError,
} from "./terminal/output.ts";
import { styleFor } from "./terminal/text.ts";

/** Errors that are no defects of the program. Their message is one sentence for the user. */
const FAILURES = [
  UsageError,
  StartError,
  CommandError,
  ClientError,
  KvdriveError,
  CannotOpenStore,
  CannotBackUp,
  CannotRestore,
  RepositoryError,
  StoreUnavailable,
  StoreFull,
  StoreDamaged,
  Refusal,
];

/**
 * Runs a command line.
 *
 * @returns The exit status: 0, 1 if the command failed, 2 if it is invalid, 141 if the reader closed its output.
 */
export async function runCommand(args: string[], env: Environment): Promise<number> {
  try {
    if (isOnDeploy(args, env)) await (await import("./serve/deploy.ts")).serveOnDeploy(env);
    else await dispatch(args, env);
    return 0;
  } catch (error) {
    if (error instanceof OutputClosed) return OUTPUT_CLOSED_STATUS;
    if (error instanceof ExitWith) return error.status;
    if (!(error instanceof Error) || !FAILURES.some((kind) => error instanceof kind)) throw error;
    printNotice(error.message);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Reports whether Deno Deploy started the program, which it does without arguments. */
function isOnDeploy(args: readonly string[], env: Environment): boolean {
  return args.length === 0 && (env["DENO_DEPLOY"] ?? "") !== "";
}

async function dispatch(args: string[], env: Environment): Promise<void> {
  if (args.length === 0) return await printOverview(env);
  const words = args[0] === "--version" ? ["version"] : args;
  const line = parseCommandLine(COMMANDS, words);
  if ("help" in line) return await printHelp(line.help, env);
  const run = await line.command.load();
  await run(line.args, env);
}

async function printOverview(env: Environment): Promise<void> {
  const { overviewText } = await import("./options/help.ts");
  print(overviewText(VERSION, COMMANDS, styleFor(Deno.stdout, env)));
}

async function printHelp(commands: readonly Command[], env: Environment): Promise<void> {
  const { commandHelp, helpText } = await import("./options/help.ts");
  const style = styleFor(Deno.stdout, env);
  print(
    commands.length === 0 ? helpText(VERSION, SECTIONS, style) : commandHelp(commands, style),
  );
}
