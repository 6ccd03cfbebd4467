import type { OptionSpec } from "../options/arguments.ts";
import type { Command } from "../options/command.ts";
import type { CallSettings, CommandCall } from "./command_call.ts";
import { DEFAULT_RETRY_FOR, DEFAULT_URL } from "./defaults.ts";

/** A command whose function gets its call, with the options that all commands of its kind have. */
export interface CallCommand extends CallSettings, Omit<Command, "load" | "commonOptions"> {
  load(): Promise<(call: CommandCall) => Promise<void>>;
}

/** Options of every command that talks to a server. */
export const CLIENT_OPTIONS: readonly OptionSpec[] = [
  {
    name: "url",
    value: "URL",
    help: "server",
    variable: "KVDRIVE_URL",
    unset: `the profile's, else ${DEFAULT_URL}`,
  },
  {
    name: "key-file",
    value: "FILE",
    help: "file with the project key or the administrator's token",
    unset: "KVDRIVE_KEY",
  },
  { name: "profile", value: "NAME", help: "the server of this profile", unset: "the current one" },
  { name: "project", value: "PROJECT", help: "the project, if the key does not tell" },
  { name: "cacert", value: "FILE", help: "certificates of further authorities to trust, in PEM" },
  {
    name: "retry-for",
    value: "TIME",
    help: "how long failed requests are repeated; 0 for never",
    default: DEFAULT_RETRY_FOR,
  },
  { name: "verbose", short: "v", help: "show the requests on standard error" },
  { name: "json", help: "print results as JSON, one object per line" },
];

const DATA: OptionSpec = {
  name: "data",
  value: "DIR",
  help: "folder of the store",
  variable: "KVDRIVE_DATA",
  default: "./data",
};

const KV: OptionSpec = {
  name: "kv",
  value: "URL",
  help: "shared store in place of the folder",
  variable: "KVDRIVE_KV",
};

const API_JSON: OptionSpec = { name: "json", help: "print JSON, as the HTTP API returns it" };

/** The option that names the drive of every operand. */
export const DRIVE_OPTION: OptionSpec = {
  name: "drive",
  value: "DRIVE",
  help: "the drive; NAME is then written without DRIVE:",
};

/** The option that answers a confirmation. */
export const YES: OptionSpec = { name: "yes", short: "y", help: "do not ask for confirmation" };

/** An option of commands that encrypt or decrypt the secrets of S3 keys, or tell where that key is. */
export const S3_SECRET_FILE: OptionSpec = {
  name: "s3-secret-file",
  value: "FILE",
  help: "secret for S3 keys",
  variable: "KVDRIVE_S3_SECRET_FILE",
  unset: "s3.key in DIR",
};

/** Makes a command that works with the files of a server. */
export const clientCommand = commandWith(
  CLIENT_OPTIONS,
);

/** Makes a command that asks a server, and transfers no files. */
export const serverCommand = commandWith(
  [...CLIENT_OPTIONS.filter(({ name }) => name !== "json"), API_JSON],
);

/** Makes a command that opens the store itself. */
export const storeCommand = commandWith(
  [DATA, KV, API_JSON],
);

/** Makes a command that opens neither a server nor a store. */
export const commandWithoutStore = commandWith(
  [{ name: "json", help: "print JSON" }],
);

/** Makes a command of the administration, which works on a server or on a store. */
export const adminCommand = commandWith(
  [
    ...CLIENT_OPTIONS.filter(({ name }) => name !== "project" && name !== "json").map((option) =>
      option.name === "url"
        ? { ...option, unset: "the profile's, else the store of --data" }
        : option
    ),
    { ...DATA, help: "open the store in this folder instead" },
    KV,
    API_JSON,
  ],
);

/** Returns what makes the commands that share some options. */
export function commandWith(
  commonOptions: readonly OptionSpec[],
): (command: CallCommand) => Command {
  return ({ load, asks, makesStore, options = [], ...command }) => ({
    ...command,
    options: asks ? [...options, YES] : options,
    commonOptions,
    async load() {
      const [{ CommandCall }, run] = await Promise.all([import("./command_call.ts"), load()]);
      return (args, env) => run(new CommandCall(args, env, { asks, makesStore }));
    },
  });
}
