import { parseArgs } from "node:util";
import { UsageError } from "../terminal/output.ts";
import { quoteWord } from "../terminal/text.ts";
import {
  Arguments,
  type Command,
  operandCounts,
  operandName,
  optionsOf,
  usageOf,
} from "./command.ts";

/** A parsed command line: a command and its arguments, or the commands whose help is wanted. */
export type CommandLine =
  | { command: Command; args: Arguments }
  /** All commands of a group; none for the help of the program. */
  | { help: readonly Command[] };

/** Switches that may stand before the name of a command. */
export const EARLY_SWITCHES: ReadonlySet<string> = new Set(["-v", "--verbose", "--json"]);

const HELP_FLAGS = new Set(["-h", "--help"]);

/**
 * Parses a command line.
 *
 * @throws {UsageError} if it is invalid. Values are not repeated: they may be secret.
 */
export function parseCommandLine(
  commands: readonly Command[],
  line: readonly string[],
): CommandLine {
  const [first = "", ...topic] = line;
  if (HELP_FLAGS.has(first)) return { help: [] };
  if (first === "help") {
    return { help: commandsOf(commands, topic.filter((word) => !word.startsWith("-"))) };
  }
  const found = commandIn(commands, line);
  if (found !== undefined) return parseArguments(found.command, found.words);
  const group = groupOf(commands, first);
  if (group.length > 0 && line.some((word) => HELP_FLAGS.has(word))) return { help: group };
  throw unknownCommand(commands, line);
}

/** Returns the command of a line, and the words after its name; `undefined` if there is none of that name. */
export function commandIn(
  commands: readonly Command[],
  line: readonly string[],
): { command: Command; words: readonly string[] } | undefined {
  const words = moveSwitches(commands, line);
  const found = findCommand(commands, words);
  return found && { command: found.command, words: words.slice(found.count) };
}

/** Returns the command that words start with, and how many of the words are its name. */
function findCommand(
  commands: readonly Command[],
  words: readonly string[],
): { command: Command; count: number } | undefined {
  for (const command of commands) {
    for (const name of namesOf(command)) {
      const parts = name.split(" ");
      if (parts.every((part, index) => words[index] === part)) {
        return { command, count: parts.length };
      }
    }
  }
  return undefined;
}

/** Returns the commands of a group such as `project`; those of old names only if it has no others. */
function groupOf(commands: readonly Command[], name: string): Command[] {
  const isIn = (one: string) => one.startsWith(`${name} `);
  const members = commands.filter(({ name }) => isIn(name));
  return members.length > 0 ? members : commands.filter((one) => namesOf(one).some(isIn));
}

function namesOf({ name, oldNames = [] }: Command): string[] {
  return [name, ...oldNames];
}

/** Returns the commands that `help` is asked about: one, those of a group, or none for the program. */
function commandsOf(commands: readonly Command[], topic: readonly string[]): readonly Command[] {
  const [first, ...more] = topic;
  if (first === undefined || first === "help") return [];
  const found = findCommand(commands, topic);
  if (found !== undefined) return [found.command];
  const group = groupOf(commands, first);
  if (group.length > 0 && more.length === 0) return group;
  throw unknownCommand(commands, topic);
}

/** Moves switches that stand before the command behind its name. */
function moveSwitches(commands: readonly Command[], words: readonly string[]): readonly string[] {
  const count = words.findIndex((word) => !EARLY_SWITCHES.has(word));
  const [early, rest] = [words.slice(0, count), words.slice(count)];
  const found = count < 1 ? undefined : findCommand(commands, rest);
  if (found === undefined) return words;
  return [...rest.slice(0, found.count), ...early, ...rest.slice(found.count)];
}

/** Parses the words after the name of a command. */
function parseArguments(command: Command, words: readonly string[]): CommandLine {
  const specs = new Map(optionsOf(command).map((spec) => [spec.name, spec]));
  const tokens = tokensOf(command, words);
  const given = tokens.filter((token) => token.kind === "option");
  if (given.some(({ index }) => HELP_FLAGS.has(words[index] ?? ""))) return { help: [command] };
  const options = new Map<string, string[]>();
  for (const { name, rawName, index, value, inlineValue } of given) {
    const spec = specs.get(name);
    if (spec === undefined) {
      const word = rawName.startsWith("--") ? rawName : words[index] ?? "";
      throw unknownOption(word, [...specs.keys()].map((one) => `--${one}`), adviceOf(command));
    }
    const values = options.get(name) ?? [];
    if (values.length > 0 && spec.isList === undefined) {
      throw refusal(command, `The option --${name} is given more than once`);
    }
    if (spec.value === undefined && value !== undefined) {
      throw refusal(command, `The option --${name} takes no value`);
    }
    const isNextOption = inlineValue === false && /^-[-a-z]/i.test(value ?? "");
    if (spec.value !== undefined && ((value ?? "") === "" || isNextOption)) {
      throw refusal(command, `The option --${name} needs a value, ${spec.value}`);
    }
    options.set(name, [...values, value ?? "true"]);
  }
  const operands = tokens.flatMap((token) => token.kind === "positional" ? token.value : []);
  checkCount(command, operands);
  const missing = [...specs.values()].find(({ name, isRequired }) =>
    isRequired && !options.has(name)
  );
  if (missing !== undefined) throw refusal(command, `The option --${missing.name} is missing`);
  return { command, args: new Arguments(command, options, operands) };
}

/** A part of a command line. `index` is that of its word. */
type Token =
  | { kind: "positional"; index: number; value: string }
  | { kind: "option-terminator"; index: number }
  | {
    kind: "option";
    index: number;
    name: string;
    /** As it was typed. */
    rawName: string;
    value: string | undefined;
    /** Whether the value is in the same word, as in `--name=value`. */
    inlineValue: boolean | undefined;
  };

/** Splits the words after the name of a command into options and operands. */
export function tokensOf(command: Command, words: readonly string[]): readonly Token[] {
  const known = optionsOf(command).map(({ name, short, value }) => {
    const type = value === undefined ? "boolean" as const : "string" as const;
    return [name, { type, ...(short === undefined ? {} : { short }) }] as const;
  });
  const options = Object.fromEntries(known);
  // The errors of the runtime would repeat values.
  return parseArgs({ args: [...words], options, strict: false, tokens: true }).tokens;
}

/** Checks the number of operands. Surplus ones are not repeated: they may be secret. */
function checkCount(command: Command, operands: readonly string[]): void {
  const [min, max] = operandCounts(command);
  const names = (command.operands ?? []).map(operandName);
  // An empty operand is a variable of a shell without a value.
  const missing = names.slice(0, min).find((_, index) => (operands[index] ?? "") === "");
  if (missing !== undefined) throw refusal(command, `${missing} is missing`);
  if (operands.length <= max) return;
  const [stray = ""] = operands;
  throw refusal(
    command,
    command.usage !== undefined ? `Unknown argument ${quoteWord(stray)}` : "Too many arguments",
  );
}

function refusal(command: Command, problem: string): UsageError {
  return new UsageError(`${problem}: ${adviceOf(command)}`);
}

/** Returns where to read more: the usage line, or the help if that does not fit into a line. */
function adviceOf(command: Command): string {
  return command.usage === undefined
    ? `usage: ${usageOf(command)}`
    : `see kvdrive help ${command.name}`;
}

function unknownOption(word: string, flags: readonly string[], advice: string): UsageError {
  const [flag = ""] = word.split("=");
  return mistake(`Unknown option ${quoteWord(flag)}`, near(flag, flags), advice);
}

/** Returns the error of words that no command begins with. */
function unknownCommand(commands: readonly Command[], words: readonly string[]): UsageError {
  const names = commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name.split(" "));
  const [first = "", second] = words;
  const members = names.filter(([group]) => group === first).flatMap(([, member]) => member ?? []);
  if (members.length === 0) {
    const advice = "see kvdrive help";
    if (first.startsWith("-")) return unknownOption(first, [], advice);
    const found = near(first, [...new Set(names.map(([name = ""]) => name))]);
    return mistake(`Unknown command ${quoteWord(first)}`, found, advice);
  }
  const advice = `see kvdrive help ${first}`;
  const choices = `use ${members.join(", ")}; ${advice}`;
  if (second === undefined) return mistake(`Incomplete command kvdrive ${first}`, [], choices);
  if (second.startsWith("-")) return unknownOption(second, [], choices);
  const found = near(second, members);
  const problem = `Unknown command ${quoteWord(second)} of kvdrive ${first}`;
  return mistake(problem, found, found.length === 0 ? choices : advice);
}

/** @param meant The words that a wrong one may stand for. */
function mistake(problem: string, meant: readonly string[], advice: string): UsageError {
  if (meant.length === 0) return new UsageError(`${problem}: ${advice}`);
  const sentence = `${advice[0]?.toUpperCase()}${advice.slice(1)}`;
  return new UsageError(`${problem}. Did you mean ${meant.join(" or ")}? ${sentence}`);
}

/** The most words that are suggested in place of a wrong one. */
const MAX_SUGGESTIONS = 3;

/** Returns the words that a wrong one begins, or else those of which it is a typing error. */
function near(wrong: string, words: readonly string[]): string[] {
  const [, letters = ""] = /^-*(.*)$/s.exec(wrong) ?? [];
  if (letters.length < 2) return [];
  const longer = words.filter((word) => word.startsWith(wrong) && word !== wrong);
  const found = longer.length > 0 ? longer : words.filter((word) => isTypo(wrong, word));
  return found.length > MAX_SUGGESTIONS ? [] : found;
}

/** Reports whether a letter was added, left out or replaced, or two neighbours swapped. */
function isTypo(wrong: string, word: string): boolean {
  let start = 0;
  while (start < wrong.length && wrong[start] === word[start]) start++;
  let [typed, meant] = [wrong.slice(start), word.slice(start)];
  while (typed !== "" && typed.at(-1) === meant.at(-1)) {
    [typed, meant] = [typed.slice(0, -1), meant.slice(0, -1)];
  }
  if (typed.length <= 1 && meant.length <= 1) return typed !== meant;
  return typed.length === 2 && typed === meant.split("").reverse().join("");
}
