import { deadline } from "@std/async/deadline";
import { commandRetrier, Connection } from "../../../client/connection.ts";
import { RemoteDrives } from "../../../client/drives.ts";
import {
  Arguments,
  type Command,
  operandCounts,
  operandName,
  optionsOf,
} from "../../options/command.ts";
import { commandIn, EARLY_SWITCHES, tokensOf } from "../../options/parser.ts";
import { type Environment, print } from "../../terminal/output.ts";
import { printable } from "../../terminal/text.ts";
import { chooseServer } from "../connect.ts";
import { isRemote } from "../drive_path.ts";

/** Milliseconds that a shell waits for completions. */
const PATIENCE = 2000;

/** The most names that are offered. */
const MAX_NAMES = 1000;

/** Asks the shell for the files of this machine. No drive has an empty name. */
const FILES = ":files";

/** A word that fits, and what it means. */
type Completion = readonly [word: string, meaning?: string];

/**
 * `kvdrive complete -- WORD...`: prints what the last word can be, for the completion scripts. The words follow `kvdrive` on
 * a command line, up to the cursor. Problems print nothing.
 */
export async function complete(
  commands: readonly Command[],
  args: Arguments,
  env: Environment,
): Promise<void> {
  const words = args.operands.slice(0, -1);
  const word = args.operands.at(-1) ?? "";
  const names = namesAfter(commands.filter(({ isHidden }) => !isHidden), words);
  const found = commandIn(commands, words);
  const others = found === undefined ? [] : await inCommand(found.command, found.words, word, env);
  const lines = [
    ...names.filter(([name]) => name.startsWith(word)),
    // A shell reads one completion a line.
    ...others.filter(([name]) => printable(name) === name),
  ].map((line) => `${line.join("\t")}\n`);
  print(lines.join(""));
}

/** Returns the words that may follow others in the names of commands. */
function namesAfter(commands: readonly Command[], words: readonly string[]): Completion[] {
  const [first, ...topic] = words;
  if (first === "help" || EARLY_SWITCHES.has(first ?? "")) return namesAfter(commands, topic);
  const names = new Map<string, string>();
  for (const { name, summary } of commands) {
    const parts = name.split(" ");
    const part = parts[words.length];
    if (part === undefined || !words.every((word, index) => word === parts[index])) continue;
    const isWhole = parts.length === words.length + 1;
    if (isWhole || !names.has(part)) {
      names.set(part, isWhole ? summary : `${[...words, part].join(" ")} commands`);
    }
  }
  if (first === undefined) names.set("help", "print the help of a command");
  return [...names];
}

/** Returns what may follow words after the name of a command. */
async function inCommand(
  command: Command,
  words: readonly string[],
  word: string,
  env: Environment,
): Promise<readonly Completion[]> {
  const tokens = tokensOf(command, words);
  const given = tokens.filter((token) => token.kind === "option");
  const specs = optionsOf(command);
  const last = given.at(-1);
  if (last?.index === words.length - 1 && last.value === undefined) {
    const value = specs.find(({ name }) => name === last.name)?.value;
    if (value !== undefined) return takesPath(value) ? [[FILES]] : [];
  }
  if (word.startsWith("-") && !tokens.some(({ kind }) => kind === "option-terminator")) {
    const open = specs.filter(({ name, isList }) =>
      isList || !given.some((option) => option.name === name)
    );
    return open.map(({ name, help }): Completion => [`--${name}`, help])
      .filter(([flag]) => flag.startsWith(word));
  }
  const operands = tokens.flatMap((token) => token.kind === "positional" ? token.value : []);
  const options = given.map(({ name, value = "true" }) => [name, [value]] as const);
  const args = new Arguments(command, new Map(options), operands);
  return await operandsOf(command, args, word, env);
}

function takesPath(value: string): boolean {
  return value === "FILE" || value === "DIR";
}

/** Returns the operands that may follow others. */
async function operandsOf(
  command: Command,
  args: Arguments,
  word: string,
  env: Environment,
): Promise<Completion[]> {
  const notations = (command.operands ?? []).map(operandName);
  const [, most] = operandCounts(command);
  const fitting = most === Infinity ? notations : notations.slice(args.operands.length).slice(0, 1);
  const completions: Completion[] = [];
  for (const [first = "", ...others] of fitting.map((notation) => notation.split("|"))) {
    // The notation has the words themselves, as bash|zsh|fish.
    const isChoice = others.length > 0 && /^[a-z]+$/.test(first);
    if (isChoice) completions.push(...[first, ...others].map((one): Completion => [one]));
  }
  const usable = completions.filter(([one]) => one.startsWith(word));
  const drive = fitting.find((one) => /^(DRIVE|SOURCE|TARGET)/.test(one));
  if (drive !== undefined) {
    const names: string[] = await deadline(namesFor(word, drive, args, env), PATIENCE).catch(
      () => [],
    );
    usable.push(...names.map((name): Completion => [name]));
  }
  const takesFiles = fitting.some((one) => /^(SOURCE|TARGET|PATH|FILE|DIR)/.test(one));
  if (takesFiles && !isRemote(word)) usable.push([FILES]);
  return usable;
}

/** Returns the drives or files on the server that begin with a word. @param notation That of the operand. */
async function namesFor(
  word: string,
  notation: string,
  args: Arguments,
  env: Environment,
): Promise<string[]> {
  const { url, credentials, cacert, isDefault } = await chooseServer(args, env);
  if (credentials === undefined || isDefault) return [];
  const authorities = cacert === undefined ? undefined : await Deno.readTextFile(cacert);
  const retrier = commandRetrier({ retryFor: 0 });
  const project = args.get("project");
  using connection = new Connection({ url, credentials, project, retrier, authorities });
  const drives = new RemoteDrives(connection);
  const given = args.get("drive");
  const at = given === undefined ? word.indexOf(":") : -1;
  if (given === undefined && at === -1) {
    const end = notation === "DRIVE" ? "" : ":";
    return await firstOf(drives.listDrives(word), ({ name }) => name + end);
  }
  const [drive, before] = given === undefined
    ? [word.slice(0, at), `${word.slice(0, at)}:`]
    : [given, ""];
  const entries = drives.entries(drive, word.slice(at + 1), false);
  return await firstOf(entries, ({ name }) => before + name);
}

async function firstOf<T>(all: AsyncIterable<T>, nameOf: (one: T) => string): Promise<string[]> {
  const names: string[] = [];
  for await (const one of all) {
    if (names.push(nameOf(one)) >= MAX_NAMES) break;
  }
  return names;
}
