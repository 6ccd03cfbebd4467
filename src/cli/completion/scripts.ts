import type { OptionSpec } from "../options/arguments.ts";
import { type Arguments, type Command, optionsOf } from "../options/command.ts";
import { print, UsageError } from "../terminal/output.ts";
import { type Shell, SHELLS } from "./shells.ts";

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
_kvdrive_names() {
  local line="\${COMP_LINE:0:COMP_POINT}" word="" drop="" name=""
  word="\${line##* }"
  # A colon ends a word of bash: what stands before it must not be repeated.
  case "$COMP_WORDBREAKS" in *:*) case "$word" in *:*) drop="\${word%:*}:" ;; esac ;; esac
  while IFS= read -r name; do
    printf -v name %q "$name"
    COMPREPLY+=("\${name#"$drop"}")
  done < <(kvdrive complete -- "$word" 2>/dev/null)
  case "\${COMPREPLY[0]}" in *:|*/) compopt -o nospace 2>/dev/null ;; esac
  # Files of this machine have no colon, or a slash before it.
  case "\${word%%:*}" in
    */*|"$word") \${1:-false} && COMPREPLY+=($(compgen -f -- "$cur")) ;;
    *) compopt +o default +o bashdefault 2>/dev/null ;;
  esac
}
_kvdrive() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" words=""
${valueCases(commands, ":", "compopt +o default +o bashdefault 2>/dev/null")}
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${firstWords(commands).join(" ")}"
  elif [ "$COMP_CWORD" -eq 2 ]; then
${groupCases(commands, "${COMP_WORDS[1]}")}
  fi
  case "$cur" in -*)
${optionCases(commands, "${COMP_WORDS[1]} ${COMP_WORDS[2]}")} ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [ -n "$words" ] || [ -z "$COMP_LINE" ]; then return; fi
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
    ${namePatterns(commands, false)}) _kvdrive_names ;;
    ${namePatterns(commands, true)}) _kvdrive_names true ;;
  esac
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
  if (( $#list )); then compadd -- $list; return; fi
  case "$first $second" in
    ${namePatterns(commands, false)}) _kvdrive_names ;;
    ${namePatterns(commands, true)}) _kvdrive_names; _files ;;
    *) _files ;;
  esac
}
_kvdrive_names() {
  local -a names
  names=("\${(@f)$(kvdrive complete -- "\${(Q)words[CURRENT]}" 2>/dev/null)}")
  compadd -S '' -- \${names:#}
}
if [ "\${funcstack[1]}" = _kvdrive ]; then _kvdrive "$@"; else compdef _kvdrive kvdrive; fi
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
    "function __kvdrive_names",
    "  set -l word (commandline -ct)",
    "  string match -q -- '-*' $word; or not type -q kvdrive; and return",
    "  kvdrive complete -- $word 2>/dev/null",
    "end",
    "# Files of this machine have no colon, or a slash before it.",
    "function __kvdrive_in_drive",
    "  string match -qr -- '^[^/:-][^/:]*:' (commandline -ct)",
    "end",
    "complete -c kvdrive -n __kvdrive_in_drive -f",
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
    const when = quoted(`__kvdrive_is ${name}`);
    const choice = choicesOf(command);
    if (choice.length > 0) {
      lines.push(`complete -c kvdrive -n ${when} -f -a ${quoted(choice.join(" "))}`);
    }
    if (takesNames(command)) {
      const files = takesFiles(command) ? "" : " -f";
      lines.push(
        `complete -c kvdrive -n ${when}${files} -a '(__kvdrive_names)'`,
      );
    }
  }
  return lines.map((line) => `${line}\n`).join("");
}

function fishOption(command: string, { name, short, value, help }: OptionSpec): string {
  const letter = short === undefined ? "" : ` -s ${short}`;
  const argument = value === undefined ? "" : takesPath(value) ? " -rF" : " -x";
  const when = quoted(`__kvdrive_is ${command}`);
  return `complete -c kvdrive -n ${when} -l ${name}${letter}${argument} -d ${quoted(help)}`;
}

/** The words that an operand can be: `bash|zsh|fish`. */
function choicesOf({ operands: [first = ""] = [] }: Command): string[] {
  return /^[a-z]+(\|[a-z]+)+$/.test(first) ? first.split("|") : [];
}

/** Whether an operand is a drive, or a file of one: the server is asked for their names. */
function takesNames({ operands = [] }: Command): boolean {
  return operands.some((operand) => /^\[?(DRIVE|SOURCE|TARGET)/.test(operand));
}

/** Whether an operand is a path on this machine. */
function takesFiles({ operands = [] }: Command): boolean {
  return operands.some((operand) => /^\[?(SOURCE|TARGET|PATH|FILE|DIR)/.test(operand));
}

/** Returns a pattern of the first two words for commands that take names of the server, with or without paths. */
function namePatterns(commands: readonly Command[], withFiles: boolean): string {
  const wanted = commands.filter((one) => takesNames(one) && takesFiles(one) === withFiles);
  return wanted.map(({ name }) => name.includes(" ") ? `"${name}"` : `"${name} "*`).join("|");
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
  const words = [
    ...[...groups].map(([group, members]) =>
      [group, members.map(({ name }) => name.split(" ")[1] ?? "")] as const
    ),
    ...commands.map((command) => [command.name, choicesOf(command)] as const),
  ];
  const cases = words.filter(([, choices]) => choices.length > 0)
    .map(([first, choices]) => `      ${first}) ${list(choices)} ;;`);
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
