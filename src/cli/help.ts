import { MIN_SECRET_LENGTH } from "../rules/secrets.ts";
import { type Command, type OptionSpec, variableOf } from "./options/arguments.ts";
import { SERVE_OPTIONS, SERVER_SECRETS } from "./options/configuration.ts";

/** Returns what `kvdrive help` prints. */
export function helpText(version: string, commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => `  kvdrive ${name.padEnd(22)}${summary}`);
  return `kvdrive ${version}: file storage in named drives

Usage:
${rows.join("\n")}
  kvdrive help [COMMAND]        print this help, or that of a command

The commands from put to stat, export and import talk to a server: KVDRIVE_URL is its address,
KVDRIVE_KEY the project key. With --data, export and import open a store instead. The other commands
open the store, whether a server is running or not.

${serveHelp()}`;
}

/** Returns what `kvdrive help COMMAND` prints for a command, or for all of a group. */
export function commandHelp(commands: readonly Command[]): string {
  const usages = commands.map(({ usage, summary }) => `  ${usage}\n      ${summary}\n`);
  const heading = `Usage:\n${usages.join("")}\n`;
  const options = new Map(commands.flatMap(({ options }) => options.map((one) => [one.name, one])));
  if (commands.some(({ name }) => name === "serve")) return heading + serveHelp();
  if (options.size === 0) return heading.trimEnd() + "\n";
  return `${heading}Options:\n${[...options.values()].map(optionRow).join("")}${
    unitsHelp(options)
  }`;
}

/** Returns the default of an option as text, with its environment variable if that takes precedence. */
export function defaultText({ default: text, unset, variable }: OptionSpec): string {
  const fallback = text ?? unset;
  if (variable === undefined) return fallback ?? "";
  return fallback === undefined ? variable : `${variable}, else ${fallback}`;
}

function serveHelp(): string {
  const rows = SERVE_OPTIONS.map((option) => {
    const variable = `${variableOf(option.name)} (default: ${defaultText(option)})`;
    return `${optionRow({ ...option, default: "", unset: "" })}${" ".repeat(28)}${variable}\n`;
  });
  const secrets = SERVER_SECRETS.map(({ name, help }) => `  ${name.padEnd(26)}${help}\n`);
  return `Options of serve, each with its environment variable (the option takes precedence):
${rows.join("")}
TIME is like 500ms, 30s, 5m, 24h or 7d; SIZE is bytes, or like 500kB, 64MiB or 10GB.

Secrets from the environment only, as other users can read command lines:
${secrets.join("")}${" ".repeat(28)}(at least ${MIN_SECRET_LENGTH} characters: openssl rand -hex 16)
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
  return `  ${flag.padEnd(26)}${help}${fallback === "" ? "" : ` (${fallback})`}\n`;
}
