import type { OptionSpec } from "../../options/arguments.ts";
import type { Command } from "../../options/command.ts";
import { CLIENT_OPTIONS, YES } from "../client_command.ts";
import type { AdminCall } from "./admin_call.ts";

/** Options of every command of the administration, which works on a server or on a store. */
const ADMIN_OPTIONS: readonly OptionSpec[] = [
  ...CLIENT_OPTIONS.filter(({ name }) => name !== "project" && name !== "json").map((option) =>
    option.name === "url" ? { ...option, unset: "the profile's, else the store of --data" } : option
  ),
  {
    name: "data",
    value: "DIR",
    help: "open the store in this folder instead",
    variable: "KVDRIVE_DATA",
    default: "./data",
  },
  { name: "kv", value: "URL", help: "shared store in place of the folder", variable: "KVDRIVE_KV" },
  { name: "json", help: "print JSON, as the HTTP API returns it" },
];

/** A command of the administration. */
export interface AdminCommand extends Omit<Command, "load" | "commonOptions"> {
  /** Whether it asks for confirmation, as it destroys something. */
  asks?: true;
  /** Whether it creates the store if there is none. */
  makesStore?: true;
  load(): Promise<(call: AdminCall) => Promise<void>>;
}

/** Returns a command of the administration as a command of the program. */
export function adminCommand(
  { load, asks, makesStore, options = [], ...command }: AdminCommand,
): Command {
  return {
    ...command,
    options: asks ? [...options, YES] : options,
    commonOptions: ADMIN_OPTIONS,
    async load() {
      const [{ AdminCall }, run] = await Promise.all([import("./admin_call.ts"), load()]);
      return (args, env) =>
        run(new AdminCall(args, env, { asks: asks ?? false, makesStore: makesStore ?? false }));
    },
  };
}
