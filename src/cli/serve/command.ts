import { variableOf } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import { SERVE_OPTIONS } from "../options/configuration.ts";
import { readServeOptions } from "../options/serve_options.ts";
import { type Environment, printError } from "../terminal/output.ts";
import { readCredentials } from "../../server/credentials.ts";
import { peersOf } from "./processes/worker.ts";
import { serve } from "./serve.ts";

export async function runServe({ options }: Arguments, env: Environment): Promise<void> {
  const settings = readServeOptions(options, env);
  const peers = peersOf(env);
  if (peers === undefined) warnOfSecrets(options);
  if (peers === undefined && settings.processes > 1) {
    const { superviseServer } = await import("./processes/supervisor.ts");
    return await superviseServer(settings, Deno.args, env);
  }
  await serve(settings, readCredentials(env), env, peers);
}

/** Warns about secrets on the command line, which every user of the machine can read while the server runs. */
function warnOfSecrets(options: ReadonlyMap<string, string>): void {
  for (const { name, isSecret } of SERVE_OPTIONS) {
    if (!isSecret || !options.has(name)) continue;
    const advice = `use the variable ${variableOf(name)} instead`;
    printError(
      `Warning: other users of this machine can read the value of --${name}: ${advice}.\n`,
    );
  }
}
