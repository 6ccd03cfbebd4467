import { MIN_SECRET_LENGTH } from "../rules/secrets.ts";
import { type Command, type OptionSpec, variableOf } from "./options/arguments.ts";
import { SERVE_OPTIONS } from "./options/serve_options.ts";

/** What `kvdrive help` prints. */
export function helpText(version: string, commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => `  kvdrive ${name.padEnd(22)}${summary}`);
  return `kvdrive ${version}: file storage in named drives

Usage:
${rows.join("\n")}
  kvdrive help [COMMAND]        print this, or more of a command

The commands put to stat ask a server: KVDRIVE_URL says where it is, KVDRIVE_KEY is the project key.
So do export and import, unless --data names a store.
The commands behind them work on the store itself, while the server runs or not.

${serveHelp()}`;
}

/** What `kvdrive help COMMAND` prints of one command, or of all of a group. */
export function commandHelp(commands: readonly Command[]): string {
  const forms = commands.map(({ form, summary }) => `  ${form}\n      ${summary}\n`);
  const usage = `Usage:\n${forms.join("")}\n`;
  const options = new Map(commands.flatMap(({ options }) => options.map((one) => [one.name, one])));
  if (commands.some(({ name }) => name === "serve")) return usage + serveHelp();
  if (options.size === 0) return usage.trimEnd() + "\n";
  return `${usage}Options:\n${[...options.values()].map(optionRow).join("")}`;
}

function serveHelp(): string {
  const rows = SERVE_OPTIONS.map((option) =>
    `${optionRow(option)}${" ".repeat(28)}${variableOf(option.name)}\n`
  );
  return `Options of serve, each with the environment variable that stands for it (the option wins):
${rows.join("")}
From the environment alone, as others on the machine can read command lines:
  KVDRIVE_PROJECT_KEY       <project id>_<secret>: makes sure that this project and key exist
  KVDRIVE_ADMIN_TOKEN       sets the administrator's token
                            (secrets and tokens have at least ${MIN_SECRET_LENGTH} characters: openssl rand -hex 16)
`;
}

function optionRow({ name, short, value, help }: OptionSpec): string {
  const flags = short === undefined ? `--${name}` : `-${short}, --${name}`;
  const flag = value === undefined ? flags : `${flags} ${value}`;
  return `  ${flag.padEnd(26)}${help}\n`;
}
