import { ClientError } from "../client/errors.ts";
import {
  AccessIsOff,
  AlreadyExists,
  BackupRuns,
  BeingRemoved,
  CannotBackUp,
  CannotOpenStore,
  CannotRestore,
  NoSuchApp,
  NoSuchProject,
  QuotaExceeded,
  StoreDamaged,
  StoreFull,
  StoreUnavailable,
} from "../store/errors.ts";
import type { Command } from "./command.ts";
import { COMMANDS, commandsOf, isCalled } from "./commands.ts";
import { isOnDeploy, serveOnDeploy } from "./deploy.ts";
import { commandHelp, helpText } from "./help.ts";
import type { Environment } from "./given_values.ts";
import { print, printError, READER_LEFT_STATUS, ReaderLeft } from "./output.ts";
import { CommandError, StartError, UsageError } from "./usage_error.ts";
import { VERSION } from "./version.ts";
import { quoted, visible } from "./visible.ts";

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
  BeingRemoved,
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
    if (error instanceof ReaderLeft) return READER_LEFT_STATUS;
    if (!(error instanceof Error) || !FAILURES.some((kind) => error instanceof kind)) throw error;
    printError(`kvdrive: ${visible(error.message.replaceAll(/\s+/g, " "))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function dispatch(args: string[], env: Environment): Promise<void> {
  const topic = helpTopic(args);
  if (topic !== undefined) return print(help(topic));
  const words = args[0] === "--version" ? ["version"] : args;
  const commands = demandCommands(words);
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
  return isAll ? helpText(VERSION, COMMANDS) : commandHelp(demandCommands(topic));
}

/** What words name: a command, or all of a group. @throws {UsageError} where it is nothing. */
function demandCommands(words: readonly string[]): [Command, ...Command[]] {
  if (words.length === 0) {
    throw new UsageError("No command is given: try kvdrive serve, or kvdrive help");
  }
  const [command, ...others] = commandsOf(words);
  if (command !== undefined) return [command, ...others];
  throw new UsageError(`Unknown command ${quoted(words[0] ?? "")}: see kvdrive help`);
}

function groupAdvice([group = "", word]: readonly string[], commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name.slice(group.length + 1));
  const problem = word === undefined
    ? `No command of kvdrive ${group} is given`
    : `Unknown command ${quoted(word)} of kvdrive ${group}`;
  return `${problem}: it has ${names.join(", ")}; see kvdrive help ${group}`;
}
