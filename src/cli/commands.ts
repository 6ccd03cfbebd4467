import { adminTokenCommands } from "./admin_token_commands.ts";
import { appCommands } from "./app_commands.ts";
import { authCommands } from "./auth_commands.ts";
import { backupCommands } from "./backup_command.ts";
import { clientCommand } from "./client_command.ts";
import type { Command } from "./command.ts";
import { givenCredentials } from "./credentials.ts";
import { editionOf } from "./edition.ts";
import { fileCommands } from "./file_commands.ts";
import { healthcheckCommand } from "./healthcheck_command.ts";
import { INSTALL } from "./install.ts";
import { keyCommands } from "./key_commands.ts";
import { moveCommands } from "./move_commands.ts";
import { variableOf } from "./given_values.ts";
import { parseServeOptions } from "./options.ts";
import { SERVE_OPTIONS } from "./serve_options.ts";
import { print, printError } from "./output.ts";
import { projectCommands } from "./project_commands.ts";
import { restoreCommands } from "./restore_command.ts";
import { serve } from "./serve.ts";
import { storeCommand } from "./store_command.ts";
import { verifyCommands } from "./verify_command.ts";
import { VERSION } from "./version.ts";

/** Every command but `help`, which shows them. */
export const COMMANDS: readonly Command[] = [
  {
    name: "serve",
    form: "kvdrive serve [OPTIONS]",
    summary: "start the server",
    options: SERVE_OPTIONS,
    async run(args, env) {
      const options = parseServeOptions(args, env);
      warnOfSecrets(args);
      await serve(options, givenCredentials(env));
    },
  },
  ...[...fileCommands, ...moveCommands].map(clientCommand),
  ...[...projectCommands, ...keyCommands, ...appCommands, ...authCommands, ...adminTokenCommands]
    .map(storeCommand),
  healthcheckCommand,
  ...[...backupCommands, ...restoreCommands, ...verifyCommands].map(storeCommand),
  {
    name: "version",
    form: "kvdrive version",
    summary: "print the version, and in which form one has the program",
    options: [],
    run: (_args, env) =>
      print(`kvdrive ${VERSION} (${editionOf(env).kind}, deno ${Deno.version.deno})\n`),
  },
  INSTALL,
];

/** Whether words, of which more may follow, call a command. */
export function isCalled({ name }: Command, words: readonly string[]): boolean {
  return name.split(" ").every((word, index) => words[index] === word);
}

/** The commands that words name: one, or all of a group such as `project`. None where they name nothing. */
export function commandsOf(words: readonly string[]): readonly Command[] {
  const called = COMMANDS.find((command) => isCalled(command, words));
  return called !== undefined
    ? [called]
    : COMMANDS.filter(({ name }) => name.startsWith(`${words[0]} `));
}

/** Tells of secrets on the command line, which every user of the machine can read while the server runs. */
function warnOfSecrets(args: readonly string[]): void {
  for (const { name, isSecret } of SERVE_OPTIONS) {
    const isGiven = args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
    if (!isSecret || !isGiven) continue;
    const advice = `give it as the variable ${variableOf(name)}`;
    printError(`Other users of this machine can read the value of --${name}: ${advice}.\n`);
  }
}
