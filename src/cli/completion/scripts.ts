import type { OptionSpec } from "../options/arguments.ts";
import { type Arguments, type Command, optionsOf } from "../options/command.ts";
import { print, UsageError } from "../terminal/output.ts";
import { type Shell, SHELLS } from "./shells.ts";

/** Prints the completion script of a shell. */
export function printScript(args: Arguments, commands: readonly Command[]): void {
  const shell = SHELLS.find((shell) => shell === args.operands[0]);
  if (shell === undefined) throw new UsageError(`Unknown shell: usage: ${args.usage}`);
  print(completionScript(shell, commands.filter(({ isHidden }) => !isHidden)));
}

/** Returns the completion script of a shell for a table of commands. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  if (shell === "fish") return fishScript(commands);
  return shell === "bash" ? bashScript(commands) : zshScript(commands);
}

function bashScript(commands: readonly Command[]): string {
  return `# Load with: source <(kvdrive completion bash)
_kvdrive() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" words=""
${valueCases(commands, ":", "compopt +o default +o bashdefault")}
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${firstWords(commands).join(" ")}"
  elif [ "$COMP_CWORD" -eq 2 ]; then
${groupCases(commands, "${COMP_WORDS[1]}")}
  fi
  case "$cur" in -*)
${optionCases(commands, "${COMP_WORDS[1]} ${COMP_WORDS[2]}")} ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _kvdrive kvdrive
`;
}

function zshScript(commands: readonly Command[]): string {
  return `#compdef kvdrive
# Load with: source <(kvdrive completion zsh)
_kvdrive() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT - 1]}"
  local first="\${words[2]}" second="\${words[3]}"
  local -a list
${valueCases(commands, "_files", ":")}
  if (( CURRENT == 2 )); then
    list=(${firstWords(commands).join(" ")})
  elif (( CURRENT == 3 )); then
${groupCases(commands, "$first", ZSH_LIST)}
  fi
  case "$cur" in -*)
${optionCases(commands, "$first $second", ZSH_LIST)} ;;
  esac
  if (( $#list )); then compadd -- $list; else _files; fi
}
compdef _kvdrive kvdrive
`;
}

function fishScript(commands: readonly Command[]): string {
  const lines = [
    "# Load with: kvdrive completion fish | source",
    "function __kvdrive_is",
    "  set -l words (commandline -opc)[2..-1]",
    "  set -l command $words[1..(count $argv)]",
    '  test "$command" = "$argv"',
    "end",
    "function __kvdrive_at",
    "  set -l words (commandline -opc)[2..-1]",
    '  test "$words" = "$argv"',
    "end",
  ];
  for (const first of firstWords(commands)) {
    const summary = commands.find(({ name }) => name === first)?.summary ?? `${first} commands`;
    lines.push(`complete -c kvdrive -n __kvdrive_at -f -a ${first} -d ${quoted(summary)}`);
  }
  for (const command of commands) {
    const { name, summary } = command;
    const [first = "", second] = name.split(" ");
    if (second !== undefined) {
      const at = quoted(`__kvdrive_at ${first}`);
      lines.push(`complete -c kvdrive -n ${at} -f -a ${second} -d ${quoted(summary)}`);
    }
    for (const option of optionsOf(command)) lines.push(fishOption(name, option));
  }
  return lines.map((line) => `${line}\n`).join("");
}

function fishOption(command: string, { name, short, value, help }: OptionSpec): string {
  const letter = short === undefined ? "" : ` -s ${short}`;
  const argument = value === undefined ? "" : takesPath(value) ? " -rF" : " -x";
  const when = quoted(`__kvdrive_is ${command}`);
  return `complete -c kvdrive -n ${when} -l ${name}${letter}${argument} -d ${quoted(help)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function takesPath(value: string): boolean {
  return value === "FILE" || value === "DIR";
}

/** Returns the words that may follow `kvdrive`. */
function firstWords(commands: readonly Command[]): string[] {
  return [...new Set([...commands.map(({ name }) => name.split(" ")[0] ?? ""), "help"])];
}

const BASH_LIST = (words: readonly string[]) => `words="${words.join(" ")}"`;
const ZSH_LIST = (words: readonly string[]) => `list=(${words.join(" ")})`;

/** Returns a case of the previous word: the commands that complete the value of an option. */
function valueCases(
  commands: readonly Command[],
  completePath: string,
  completeOther: string,
): string {
  const options = commands.flatMap(optionsOf);
  const patterns = (isPath: boolean) => {
    const wanted = options.filter(({ value }) =>
      value !== undefined && takesPath(value) === isPath
    );
    const names = wanted.flatMap(({ name, short }) =>
      short ? [`--${name}`, `-${short}`] : `--${name}`
    );
    return [...new Set(names)].join("|");
  };
  return `  case "$prev" in
    ${patterns(true)}) ${completePath}; return ;;
    ${patterns(false)}) ${completeOther}; return ;;
  esac`;
}

/** Returns a case of the first word that sets the words of a group. */
function groupCases(commands: readonly Command[], first: string, list = BASH_LIST): string {
  const groups = Map.groupBy(
    commands.filter(({ name }) => name.includes(" ")),
    ({ name }) => name.split(" ")[0] ?? "",
  );
  const cases = [...groups].map(([group, members]) =>
    `      ${group}) ${list(members.map(({ name }) => name.split(" ")[1] ?? ""))} ;;`
  );
  return [`    case "${first}" in`, ...cases, "    esac"].join("\n");
}

/** Returns a case of the first two words that sets the options of a command. */
function optionCases(
  commands: readonly Command[],
  firstTwo: string,
  list = BASH_LIST,
): string {
  const cases = commands.filter((one) => optionsOf(one).length > 0).map((command) => {
    const { name } = command;
    const pattern = name.includes(" ") ? `"${name}"` : `"${name} "*`;
    return `      ${pattern}) ${list(optionsOf(command).map(({ name }) => `--${name}`))} ;;`;
  });
  return [`    case "${firstTwo}" in`, ...cases, "    esac"].join("\n");
}
