import { Command as Parser, CommanderError, Option } from "commander";
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
const EARLY_SWITCHES = new Set(["-v", "--verbose", "--json"]);

/**
 * Parses a command line.
 *
 * @throws {UsageError} if it is invalid. Values are not repeated: they may be secret.
 */
export function parseCommandLine(
  commands: readonly Command[],
  line: readonly string[],
): CommandLine {
  const words = withoutHelpCommand(commands, moveSwitches(commands, line));
  let parsed: CommandLine | undefined;
  const program = programOf(commands, words, (line) => parsed = line);
  try {
    program.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (parsed === undefined || error.code === "commander.help") {
      throw usageError(error, commands, words);
    }
  }
  if (parsed === undefined) throw new Error("The parser called no command");
  return parsed;
}

/** Returns the command that words start with, and how many of the words are its name. */
export function findCommand(
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

/** Returns the commands of a group such as `project`, without hidden ones. */
export function groupOf(commands: readonly Command[], name: string): Command[] {
  return commands.filter((command) => command.name.startsWith(`${name} `) && !command.isHidden);
}

function namesOf({ name, oldNames = [] }: Command): string[] {
  return [name, ...oldNames];
}

/** Moves switches that stand before the command behind its name. */
function moveSwitches(commands: readonly Command[], words: readonly string[]): string[] {
  const count = words.findIndex((word) => !EARLY_SWITCHES.has(word));
  if (count < 1) return [...words];
  const [early, rest] = [words.slice(0, count), words.slice(count)];
  const found = findCommand(commands, rest);
  if (found === undefined) return [...words];
  return [...rest.slice(0, found.count), ...early, ...rest.slice(found.count)];
}

/** Turns `help COMMAND` into `COMMAND --help`, and leaves a wrong name alone, so that it is reported. */
function withoutHelpCommand(commands: readonly Command[], words: string[]): string[] {
  const [first, ...topic] = words;
  const asked = first === "help" ? topic.filter((word) => !word.startsWith("-")) : words;
  if (first === "help" && (asked.length === 0 || asked[0] === "help")) return ["--help"];
  const [group = "", ...more] = asked;
  const isKnown = findCommand(commands, asked) !== undefined;
  const isGroup = commands.some((command) =>
    namesOf(command).some((name) => name.startsWith(`${group} `))
  );
  if (first === "help") {
    const isHelpOfGroup = isGroup && more.length === 0;
    return isKnown || isHelpOfGroup ? [...asked, "--help"] : asked;
  }
  // The help of a command that does not exist would be that of the program.
  const [word = ""] = words;
  return isKnown || isGroup || word.startsWith("-") ? words : words.slice(0, 1);
}

/** Builds the parser of all commands. Only the called command gets its options, as the others do not need them. */
function programOf(
  commands: readonly Command[],
  words: readonly string[],
  onParsed: (line: CommandLine) => void,
): Parser {
  const program = quietParser("kvdrive", () => onParsed({ help: [] }));
  const called = findCommand(commands, words)?.command;
  for (const command of commands) {
    for (const name of namesOf(command)) {
      const [first = "", second] = name.split(" ");
      const isHidden = command.isHidden === true || name !== command.name;
      const above = second === undefined ? program : groupIn(program, commands, first, onParsed);
      const leaf = quietParser(second ?? first, () => onParsed({ help: [command] }));
      if (command === called) {
        addArguments(leaf, command, words, (args) => onParsed({ command, args }));
      }
      above.addCommand(leaf, { hidden: isHidden });
    }
  }
  return program;
}

function groupIn(
  program: Parser,
  commands: readonly Command[],
  name: string,
  onParsed: (line: CommandLine) => void,
): Parser {
  const existing = program.commands.find((one) => one.name() === name);
  if (existing !== undefined) return existing;
  const members = groupOf(commands, name);
  const old = commands.filter(({ oldNames = [] }) =>
    oldNames.some((one) => one.startsWith(`${name} `))
  );
  const shown = members.length > 0 ? members : old;
  const group = quietParser(name, () => onParsed({ help: shown }));
  program.addCommand(group, { hidden: members.length === 0 });
  return group;
}

/** Returns a parser that writes nothing and never ends the process. @param onHelp Called if its help is asked for. */
function quietParser(name: string, onHelp: () => void): Parser {
  return new Parser(name)
    .exitOverride()
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .configureHelp({
      formatHelp: () => {
        onHelp();
        return "";
      },
    });
}

function addArguments(
  parser: Parser,
  command: Command,
  words: readonly string[],
  onParsed: (args: Arguments) => void,
): void {
  const options = new Map<string, string[]>();
  const specs = optionsOf(command);
  for (const { name, short, value, help, isList } of specs) {
    const flags = short === undefined ? `--${name}` : `-${short}, --${name}`;
    parser.addOption(new Option(value === undefined ? flags : `${flags} <${value}>`, help));
    parser.on(`option:${name}`, (text: string | undefined) => {
      const values = options.get(name) ?? [];
      if (values.length > 0 && !isList) {
        throw refusal(command, `The option --${name} is given more than once`);
      }
      if (value !== undefined) requireValue(command, { name, value }, text ?? "", words);
      options.set(name, [...values, text ?? "true"]);
    });
  }
  parser.argument("[words...]").action((operands: string[]) => {
    checkCount(command, operands);
    const missing = specs.find(({ name, isRequired }) => isRequired && !options.has(name));
    if (missing !== undefined) throw refusal(command, `The option --${missing.name} is missing`);
    onParsed(new Arguments(command, options, operands));
  });
}

/** @throws {UsageError} if the value of an option is empty, or is rather the next option. */
function requireValue(
  command: Command,
  { name, value }: { name: string; value: string },
  text: string,
  words: readonly string[],
): void {
  const isOption = /^-[-a-z]/i.test(text) && words.includes(text);
  if (text !== "" && !isOption) return;
  throw refusal(command, `The option --${name} needs a value, ${value}`);
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

/** Returns an error of the parser as one sentence for the user. */
function usageError(
  { code, message }: CommanderError,
  commands: readonly Command[],
  words: readonly string[],
): UsageError {
  const found = findCommand(commands, words);
  const [group = "", member] = words;
  const advice = found !== undefined
    ? adviceOf(found.command)
    : groupOf(commands, group).length > 0
    ? `see kvdrive help ${group}`
    : "see kvdrive help";
  const [, culprit = ""] = /^error: (?:\w+ )+'([^]*?)'(?: argument missing|$)/.exec(message) ?? [];
  const problem = problemOf({ code, culprit, command: found?.command, group, member }, commands);
  const members = found === undefined ? groupOf(commands, group).map(memberName) : [];
  const suggestions = code === "commander.unknownOption"
    ? near(culprit.split("=")[0] ?? "", found === undefined ? [] : flagsOf(found.command))
    : members.length > 0
    ? near(member ?? "", members)
    : near(group, firstWords(commands));
  if (suggestions.length === 0) {
    const choice = members.length === 0 ? "" : `use ${members.join(", ")}; `;
    return new UsageError(`${problem}: ${choice}${advice}`);
  }
  const sentence = `${advice[0]?.toUpperCase()}${advice.slice(1)}`;
  return new UsageError(`${problem}. Did you mean ${suggestions.join(" or ")}? ${sentence}`);
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

function flagsOf(command: Command): string[] {
  return optionsOf(command).map(({ name }) => `--${name}`);
}

function firstWords(commands: readonly Command[]): string[] {
  const names = commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  return [...new Set(names.map((name) => name.split(" ")[0] ?? ""))];
}

/** The last word of the name of a command in a group. */
function memberName({ name }: Command): string {
  return name.split(" ").at(-1) ?? "";
}

interface Failure {
  code: string;
  /** The word that the parser complains about. */
  culprit: string;
  command: Command | undefined;
  group: string;
  member: string | undefined;
}

function problemOf(
  { code, culprit, command, group, member }: Failure,
  commands: readonly Command[],
): string {
  switch (code) {
    case "commander.unknownOption": {
      const [flag = ""] = culprit.split("=");
      const isSwitch = command !== undefined &&
        optionsOf(command).some(({ name }) => `--${name}` === flag);
      return isSwitch ? `The option ${flag} takes no value` : `Unknown option ${quoteWord(flag)}`;
    }
    case "commander.optionMissingArgument": {
      const [, name = ""] = /--([\w-]+)/.exec(culprit) ?? [];
      const value = command && optionsOf(command).find((option) => option.name === name)?.value;
      return `The option --${name} needs a value, ${value}`;
    }
    default: {
      if (groupOf(commands, group).length === 0) return `Unknown command ${quoteWord(group)}`;
      return member === undefined
        ? `Incomplete command kvdrive ${group}`
        : `Unknown command ${quoteWord(member)} of kvdrive ${group}`;
    }
  }
}
