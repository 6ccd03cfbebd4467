import type { OptionSpec } from "../options/arguments.ts";
import type { Command } from "../options/command.ts";
import type { ClientCall } from "./client_call.ts";
import { DEFAULT_RETRY_FOR, DEFAULT_URL } from "./defaults.ts";

/** Options of every command that talks to a server. */
export const CLIENT_OPTIONS: readonly OptionSpec[] = [
  {
    name: "url",
    value: "URL",
    help: "address of the server",
    variable: "KVDRIVE_URL",
    default: DEFAULT_URL,
  },
  {
    name: "key-file",
    value: "FILE",
    help: "file with the project key",
    unset: "the key in KVDRIVE_KEY",
  },
  { name: "cacert", value: "FILE", help: "certificates of further authorities to trust, in PEM" },
  {
    name: "retry-for",
    value: "TIME",
    help: "how long failed requests are repeated; 0 for never",
    default: DEFAULT_RETRY_FOR,
  },
  { name: "json", help: "print results as JSON, one object per line" },
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
