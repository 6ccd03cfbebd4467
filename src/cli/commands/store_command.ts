import type { OptionSpec } from "../options/arguments.ts";
import type { Command } from "../options/command.ts";
import { YES } from "./client_command.ts";
import type { StoreCall } from "./store_call.ts";

/** Options of every command that opens the store. */
const STORE_OPTIONS: readonly OptionSpec[] = [
  {
    name: "data",
    value: "DIR",
    help: "folder of the store",
    variable: "KVDRIVE_DATA",
    default: "./data",
  },
  { name: "kv", value: "URL", help: "shared store in place of the folder", variable: "KVDRIVE_KV" },
  { name: "json", help: "print JSON, as the HTTP API returns it" },
];

/** An option of commands that encrypt or decrypt the secrets of S3 keys, or tell where that key is. */
export const S3_SECRET_FILE: OptionSpec = {
  name: "s3-secret-file",
  value: "FILE",
  help: "secret for S3 keys",
  variable: "KVDRIVE_S3_SECRET_FILE",
  unset: "s3.key in DIR",
};

/** A command that opens the store itself. */
export interface StoreCommand extends Omit<Command, "load" | "commonOptions"> {
  /** Whether it asks for confirmation, as it destroys something. */
  asks?: true;
  /** Whether it creates the store if there is none. */
  makesStore?: true;
  load(): Promise<(call: StoreCall) => Promise<void>>;
}

/** Returns a store command as a command of the program. */
export function storeCommand(
  { load, asks, makesStore, options = [], ...command }: StoreCommand,
): Command {
  return {
    ...command,
    options: asks ? [...options, YES] : options,
    commonOptions: STORE_OPTIONS,
    async load() {
      const [{ StoreCall }, run] = await Promise.all([import("./store_call.ts"), load()]);
      return (args, env) =>
        run(new StoreCall(args, env, { asks: asks ?? false, makesStore: makesStore ?? false }));
    },
  };
}
