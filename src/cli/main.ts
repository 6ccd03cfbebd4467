import { ClientError } from "../client/errors.ts";
import { StoreFull } from "../store/disk/disk_space.ts";
import {
  AccessIsOff,
  AlreadyExists,
  BackupRuns,
  BeingDeleted,
  CannotBackUp,
  CannotOpenStore,
  CannotRestore,
  NoSuchApp,
  NoSuchProject,
  QuotaExceeded,
  StoreDamaged,
  StoreUnavailable,
} from "../store/engine/errors.ts";
import { VERSION } from "../version.ts";
import { COMMANDS, commandsOf, isCalled } from "./commands.ts";
import { commandHelp, helpText } from "./help.ts";
import type { Command } from "./options/arguments.ts";
import { isOnDeploy, serveOnDeploy } from "./serve/deploy.ts";
import { CommandError, StartError, UsageError } from "./terminal/errors.ts";
import {
  type Environment,
  OUTPUT_CLOSED_STATUS,
  OutputClosed,
  print,
  printError,
} from "./terminal/output.ts";
import { printable, quoteWord } from "./terminal/text.ts";

/** What can go wrong without a defect of ours. Each has a sentence for the person who typed the command. */
const FAILURES = [
  UsageError,
  StartError,
  CommandError,
  ClientError,
  CannotOpenStore,
  CannotBackUp,
  BackupRuns,
  CannotRestore,
  StoreUnavailable,
  StoreFull,
  QuotaExceeded,
  StoreDamaged,
  AlreadyExists,
  BeingDeleted,
  NoSuchProject,
  NoSuchApp,
  AccessIsOff,
];

/**
 * Runs a command line and gives the exit status: 2 for one that cannot be followed, 1 for one that failed, 141 for one
 * whose output was closed by its reader.
 */
export async function runCommand(args: string[], env: Environment): Promise<number> {
  try {
    // Deno Deploy starts the program without a word.
    if (isOnDeploy(args, env)) await serveOnDeploy(env);
    else await dispatch(args, env);
    return 0;
  } catch (error) {
    if (error instanceof OutputClosed) return OUTPUT_CLOSED_STATUS;
    if (!(error instanceof Error) || !FAILURES.some((kind) => error instanceof kind)) throw error;
    printError(`kvdrive: ${printable(error.message.replaceAll(/\s+/g, " "))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function dispatch(args: string[], env: Environment): Promise<void> {
  const topic = helpTopic(args);
  if (topic !== undefined) return print(help(topic));
  const words = args[0] === "--version" ? ["version"] : args;
  const commands = findCommands(words);
  const [command] = commands;
  if (!isCalled(command, words)) throw new UsageError(groupAdvice(words, commands));
  await command.run(args.slice(command.name.split(" ").length), env);
}

/** The words that help is asked for about; `undefined` where it is not. What stands behind `--` is no option. */
function helpTopic(args: readonly string[]): string[] | undefined {
  const flagAt = args.findIndex((arg) => arg.startsWith("-"));
  const [first, ...words] = flagAt === -1 ? args : args.slice(0, flagAt);
  if (first === "help") return words;
  const endAt = args.indexOf("--");
  const flags = endAt === -1 ? args : args.slice(0, endAt);
  const isAsked = flags.some((arg) => arg === "--help" || arg === "-h");
  return isAsked ? (first === undefined ? [] : [first, ...words]) : undefined;
}

function help(topic: readonly string[]): string {
  const isAll = topic.length === 0 || topic[0] === "help";
  return isAll ? helpText(VERSION, COMMANDS) : commandHelp(findCommands(topic));
}

/** What words name: a command, or all of a group. @throws {UsageError} where it is nothing. */
function findCommands(words: readonly string[]): [Command, ...Command[]] {
  if (words.length === 0) {
    throw new UsageError("No command is given: try kvdrive serve, or kvdrive help");
  }
  const [command, ...others] = commandsOf(words);
  if (command !== undefined) return [command, ...others];
  throw new UsageError(`Unknown command ${quoteWord(words[0] ?? "")}: see kvdrive help`);
}

function groupAdvice([group = "", word]: readonly string[], commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name.slice(group.length + 1));
  const problem = word === undefined
    ? `No command of kvdrive ${group} is given`
    : `Unknown command ${quoteWord(word)} of kvdrive ${group}`;
  return `${problem}: it has ${names.join(", ")}; see kvdrive help ${group}`;
}
