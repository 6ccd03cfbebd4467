import { ClientError } from "../client/errors.ts";
import { StoreFull } from "../store/disk/disk_space.ts";
import {
  AccessIsOff,
  AlreadyExists,
  BackupInProgress,
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
import {
  CommandError,
  type Environment,
  OUTPUT_CLOSED_STATUS,
  OutputClosed,
  print,
  printError,
  StartError,
  UsageError,
} from "./terminal/output.ts";
import { printable, quoteWord } from "./terminal/text.ts";

/** Errors that are no defects of the program. Their message is one sentence for the user. */
const FAILURES = [
  UsageError,
  StartError,
  CommandError,
  ClientError,
  CannotOpenStore,
  CannotBackUp,
  BackupInProgress,
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
 * Runs a command line.
 *
 * @returns The exit status: 0, 1 if the command failed, 2 if it is invalid, 141 if the reader closed its output.
 */
export async function runCommand(args: string[], env: Environment): Promise<number> {
  try {
    // Deno Deploy starts the program without arguments.
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

/** Returns the words that help is requested for; `undefined` if it is not. Arguments after `--` are no options. */
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
  const isGeneral = topic.length === 0 || topic[0] === "help";
  return isGeneral ? helpText(VERSION, COMMANDS) : commandHelp(findCommands(topic));
}

/** Returns a command, or all commands of a group. @throws {UsageError} if there is none. */
function findCommands(words: readonly string[]): [Command, ...Command[]] {
  if (words.length === 0) {
    throw new UsageError("No command: try kvdrive serve, or kvdrive help");
  }
  const [command, ...others] = commandsOf(words);
  if (command !== undefined) return [command, ...others];
  throw new UsageError(`Unknown command ${quoteWord(words[0] ?? "")}: see kvdrive help`);
}

/** Returns the error for the name of a group without one of its commands. */
function groupAdvice([group = "", word]: readonly string[], commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name.slice(group.length + 1));
  const problem = word === undefined
    ? `Incomplete command kvdrive ${group}`
    : `Unknown command ${quoteWord(word)} of kvdrive ${group}`;
  return `${problem}: use ${names.join(", ")}; see kvdrive help ${group}`;
}
