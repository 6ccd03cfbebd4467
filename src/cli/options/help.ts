import { MIN_SECRET_LENGTH } from "../../rules/secrets.ts";
import type { Style } from "../terminal/text.ts";
import { type OptionSpec, variableOf } from "./arguments.ts";
import { type Command, optionsOf, usageOf } from "./command.ts";
import { SERVE_OPTIONS, SERVER_SECRETS } from "./configuration.ts";

/** Commands under a heading of the help. */
export interface Section {
  title: string;
  commands: readonly Command[];
}

/** The columns of names of commands and of options in the help. */
const NAME_WIDTH = 22;
const FLAG_WIDTH = 26;

/** The longest usage line, in columns. */
const MAX_USAGE_WIDTH = 96;

/** The commands of which the overview has the first example: what most users do first. */
const OVERVIEW = ["serve", "login", "put", "ls", "get", "sync", "rm"];

/** The columns of examples in the overview. */
const EXAMPLE_WIDTH = 41;

/** Returns what `kvdrive` prints without a command. */
export function overviewText(version: string, commands: readonly Command[], style: Style): string {
  const examples = OVERVIEW.map((one) =>
    commands.find(({ name }) => name === one)?.examples[0] ?? ["", ""]
  );
  const rows = examples.map(([line, meaning]) => `  ${line.padEnd(EXAMPLE_WIDTH)}${meaning}\n`);
  return `${style.bold(`kvdrive ${version}: file storage in named drives`)}

${rows.join("")}
kvdrive help lists all commands, and kvdrive help COMMAND describes one.
`;
}

/** Returns what `kvdrive help` prints. */
export function helpText(version: string, sections: readonly Section[], style: Style): string {
  const blocks = sections.map(({ title, commands }) => {
    const shown = commands.filter(({ isHidden }) => !isHidden);
    const rows = shown.map(({ name, summary }) =>
      `  kvdrive ${name.padEnd(NAME_WIDTH)}${summary}\n`
    );
    return `${style.bold(`${title}:`)}\n${rows.join("")}`;
  });
  return `kvdrive ${version}: file storage in named drives

${blocks.join("\n")}  kvdrive ${"help [COMMAND]".padEnd(NAME_WIDTH)}${HELP_SUMMARY}

${style.bold("The server that commands talk to:")}
  KVDRIVE_URL and KVDRIVE_KEY in the environment, else the profile that "kvdrive login" saved.
  Without either, commands of the administration open the store in --data, whether a server is
  running or not.

"kvdrive help COMMAND" has the options of a command; "kvdrive help serve" those of the server.
`;
}

const HELP_SUMMARY = "print this help, or that of a command";

/** Returns what `kvdrive help COMMAND` prints for a command, or for all of a group. */
export function commandHelp(commands: readonly Command[], style: Style): string {
  const usages = commands.map((command) =>
    `  ${wrapped(usageOf(command))}\n      ${command.summary}\n`
  );
  const examples = commands.flatMap(({ examples }) => examples);
  const blocks = [
    `${style.bold("Usage:")}\n${usages.join("")}`,
    `${style.bold("Examples:")}\n${
      examples.map(([line, meaning]) => `  ${line}\n${style.dim(`      ${meaning}`)}\n`).join("")
    }`,
  ];
  const shown = commands.flatMap((command) => optionsOf({ ...command, furtherOptions: [] }));
  const options = new Map(shown.map((option) => [option.name, option]));
  if (commands.some(({ name }) => name === "serve")) blocks.push(serveHelp(style));
  else if (options.size > 0) {
    const rows = [...options.values()].map(optionRow).join("");
    blocks.push(`${style.bold("Options:")}\n${rows}${unitsHelp(options)}`);
  }
  return blocks.join("\n");
}

/** Breaks a usage line between its parts, where it would be too long. */
function wrapped(usage: string): string {
  const lines = [""];
  for (const part of usage.match(/\[--[^\]]*\]|\S+/g) ?? []) {
    const line = lines.at(-1) ?? "";
    const longer = line === "" ? part : `${line} ${part}`;
    if (longer.length > MAX_USAGE_WIDTH) lines.push(`    ${part}`);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n  ");
}

/** Returns the default of an option as text, with its environment variable if that takes precedence. */
export function defaultText({ default: text, unset, variable }: OptionSpec): string {
  const fallback = text ?? unset;
  if (variable === undefined) return fallback ?? "";
  return fallback === undefined ? variable : `${variable}, else ${fallback}`;
}

function serveHelp(style: Style): string {
  const rows = SERVE_OPTIONS.map((option) => {
    const variable = `${variableOf(option.name)} (default: ${defaultText(option)})`;
    const row = optionRow({ ...option, default: "", unset: "" });
    return `${row}${" ".repeat(FLAG_WIDTH + 2)}${variable}\n`;
  });
  const secrets = SERVER_SECRETS.map(({ name, help }) => `  ${name.padEnd(FLAG_WIDTH)}${help}\n`);
  return `${
    style.bold(
      "Options of serve, each with its environment variable (the option takes precedence):",
    )
  }
${rows.join("")}
TIME is like 500ms, 30s, 5m, 24h or 7d; SIZE is bytes, or like 500kB, 64MiB or 10GB.

Secrets from the environment only, as other users can read command lines:
${secrets.join("")}${
    " ".repeat(FLAG_WIDTH + 2)
  }(at least ${MIN_SECRET_LENGTH} characters: openssl rand -hex 16)
`;
}

function unitsHelp(options: ReadonlyMap<string, OptionSpec>): string {
  const values = new Set([...options.values()].map(({ value }) => value));
  const units = [
    ...(values.has("TIME") ? ["TIME is like 500ms, 30s, 5m, 24h or 7d"] : []),
    ...(values.has("SIZE") ? ["SIZE is bytes, or like 500MB, 10GB or 10GiB"] : []),
  ];
  return units.length === 0 ? "" : `\n${units.join("; ")}.\n`;
}

function optionRow(option: OptionSpec): string {
  const { name, short, value, help } = option;
  const flags = short === undefined ? `--${name}` : `-${short}, --${name}`;
  const flag = value === undefined ? flags : `${flags} ${value}`;
  const fallback = defaultText(option);
  return `  ${flag.padEnd(FLAG_WIDTH - 1)} ${help}${fallback === "" ? "" : ` (${fallback})`}\n`;
}
