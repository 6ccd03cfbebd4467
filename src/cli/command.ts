import type { Call } from "./call.ts";
import type { OptionSpec } from "./flags.ts";
import type { Environment } from "./given_values.ts";

/** A command of the program, as the help shows it and as it is run. */
export interface Command {
  /** As it is typed behind `kvdrive`: `project create`. */
  name: string;
  /** How it is called, as errors about its use repeat it. */
  form: string;
  summary: string;
  options: readonly OptionSpec[];
  run(args: string[], env: Environment): Promise<void> | void;
}

/** A command that works on the store itself. */
export interface StoreCommand {
  /** As it is typed behind `kvdrive`: `project create`. */
  name: string;
  /** What has to stand behind it, in order: `PROJECT`. */
  operands?: readonly string[];
  /** What may stand behind that. */
  optional?: readonly string[];
  options?: readonly (OptionSpec & { required?: true })[];
  /** Whether it takes something away, and so asks first. */
  asks?: true;
  /** Whether it makes a store where there is none. */
  makesStore?: true;
  summary: string;
  run(call: Call): Promise<void>;
}
