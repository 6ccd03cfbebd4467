import type { OptionSpec } from "../options/arguments.ts";
import type { Command } from "../options/command.ts";
import type { ClientCall } from "./client_call.ts";
import type { ServerCall } from "./server_call.ts";
import { DEFAULT_RETRY_FOR, DEFAULT_URL } from "./defaults.ts";

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

/** Options of every command that asks a server, and transfers no files. */
const SERVER_OPTIONS: readonly OptionSpec[] = [
  ...CLIENT_OPTIONS.filter(({ name }) => name !== "json"),
  { name: "json", help: "print JSON, as the HTTP API returns it" },
];

/** The option that names the drive of every operand. */
export const DRIVE_OPTION: OptionSpec = {
  name: "drive",
  value: "DRIVE",
  help: "the drive; NAME is then written without DRIVE:",
};

/** The option that answers a confirmation. */
export const YES: OptionSpec = { name: "yes", short: "y", help: "do not ask for confirmation" };

/** A command that works with a server. */
export interface ClientCommand extends Omit<Command, "load" | "commonOptions"> {
  load(): Promise<(call: ClientCall) => Promise<void>>;
}

/** Returns a client command as a command of the program. */
export function clientCommand({ load, ...command }: ClientCommand): Command {
  return {
    ...command,
    commonOptions: CLIENT_OPTIONS,
    async load() {
      const [{ ClientCall }, run] = await Promise.all([import("./client_call.ts"), load()]);
      return (args, env) => run(new ClientCall(args, env));
    },
  };
}

/** A command that asks a server, and transfers no files. */
export interface ServerCommand extends Omit<Command, "load" | "commonOptions"> {
  /** Whether it asks for confirmation, as it destroys something. */
  asks?: true;
  load(): Promise<(call: ServerCall) => Promise<void>>;
}

/** Returns such a command as a command of the program. */
export function serverCommand(
  { load, asks, options = [], ...command }: ServerCommand,
): Command {
  return {
    ...command,
    options: asks ? [...options, YES] : options,
    commonOptions: SERVER_OPTIONS,
    async load() {
      const [{ ServerCall }, run] = await Promise.all([import("./server_call.ts"), load()]);
      return (args, env) => run(new ServerCall(args, env, { asks: asks ?? false }));
    },
  };
}
