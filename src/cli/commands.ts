import { currentBuild, VERSION } from "../version.ts";
import { appCommands, authCommands } from "./commands/app.ts";
import { backupCommands, restoreCommands } from "./commands/backup.ts";
import { clientCommand } from "./commands/client_command.ts";
import { moveCommands } from "./commands/export_import.ts";
import { fileCommands } from "./commands/files.ts";
import { healthcheckCommand } from "./commands/healthcheck.ts";
import { INSTALL } from "./commands/install.ts";
import { adminTokenCommands, keyCommands } from "./commands/key.ts";
import { projectCommands } from "./commands/project.ts";
import { storeCommand } from "./commands/store_command.ts";
import { verifyCommands } from "./commands/verify.ts";
import { type Command, variableOf } from "./options/arguments.ts";
import { parseServeOptions, SERVE_OPTIONS } from "./options/serve_options.ts";
import { readCredentials } from "./serve/credentials.ts";
import { serve } from "./serve/serve.ts";
import { print, printError } from "./terminal/output.ts";

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
      await serve(options, readCredentials(env));
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
      print(`kvdrive ${VERSION} (${currentBuild(env).kind}, deno ${Deno.version.deno})\n`),
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
