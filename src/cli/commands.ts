import { buildKind, currentBuild, VERSION } from "../version.ts";
import { appCommands, authCommands } from "./commands/app.ts";
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { clientCommand } from "./commands/client_command.ts";
import { exportCommand, importCommand } from "./commands/export_import.ts";
import { lsCommand, rmCommand, statCommand } from "./commands/files.ts";
import { getCommand } from "./commands/get.ts";
import { healthcheckCommand } from "./commands/healthcheck.ts";
import { installCommand } from "./commands/install.ts";
import { adminTokenCommand, keyCommands, linkKeyCommand } from "./commands/key.ts";
import { projectCommands } from "./commands/project.ts";
import { putCommand } from "./commands/put.ts";
import { storeCommand } from "./commands/store_command.ts";
import { verifyCommand } from "./commands/verify.ts";
import { completionScript, SHELLS } from "./completions.ts";
import { type Command, parseFlags, variableOf } from "./options/arguments.ts";
import { SERVE_OPTIONS } from "./options/configuration.ts";
import { parseServeOptions } from "./options/serve_options.ts";
import { readCredentials } from "./serve/credentials.ts";
import { serve } from "./serve/serve.ts";
import { print, printError, UsageError } from "./terminal/output.ts";

const serveCommand: Command = {
  name: "serve",
  usage: "kvdrive serve [OPTIONS]",
  summary: "start the server",
  options: SERVE_OPTIONS,
  async run(args, env) {
    const options = parseServeOptions(args, env);
    warnOfSecrets(args);
    await serve(options, readCredentials(env), buildKind(env));
  },
};

const versionCommand: Command = {
  name: "version",
  usage: "kvdrive version",
  summary: "print the version, and how kvdrive was built",
  options: [],
  run: (_args, env) =>
    print(`kvdrive ${VERSION} (${currentBuild(env).kind}, deno ${Deno.version.deno})\n`),
};

const completionsCommand: Command = {
  name: "completions",
  usage: `kvdrive completions ${SHELLS.join("|")}`,
  summary: "print a completion script for a shell",
  options: [],
  run(args) {
    const advice = `usage: ${completionsCommand.usage}`;
    const { operands: [name, ...others] } = parseFlags([], args, advice);
    const shell = SHELLS.find((shell) => shell === name);
    if (shell === undefined) throw new UsageError(`Unknown shell: ${advice}`);
    if (others.length > 0) throw new UsageError(`Too many arguments: ${advice}`);
    print(completionScript(shell, COMMANDS));
  },
};

/** Every command except `help`, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  serveCommand,
  ...[
    putCommand,
    getCommand,
    lsCommand,
    rmCommand,
    statCommand,
    exportCommand,
    importCommand,
  ].map(clientCommand),
  ...[
    ...projectCommands,
    ...keyCommands,
    ...appCommands,
    ...authCommands,
    linkKeyCommand,
    adminTokenCommand,
  ].map(storeCommand),
  healthcheckCommand,
  ...[backupCommand, restoreCommand, verifyCommand].map(storeCommand),
  versionCommand,
  completionsCommand,
  installCommand,
];

/** Reports whether words start with the name of a command. */
export function isCalled({ name }: Command, words: readonly string[]): boolean {
  return name.split(" ").every((word, index) => words[index] === word);
}

/** Returns the command that words start with, else all commands of a group such as `project`. */
export function commandsOf(words: readonly string[]): readonly Command[] {
  const called = COMMANDS.find((command) => isCalled(command, words));
  return called !== undefined
    ? [called]
    : COMMANDS.filter(({ name }) => name.startsWith(`${words[0]} `));
}

/** Warns about secrets on the command line, which every user of the machine can read while the server runs. */
function warnOfSecrets(args: readonly string[]): void {
  for (const { name, isSecret } of SERVE_OPTIONS) {
    const isGiven = args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
    if (!isSecret || !isGiven) continue;
    const advice = `use the variable ${variableOf(name)} instead`;
    printError(
      `Warning: other users of this machine can read the value of --${name}: ${advice}.\n`,
    );
  }
}
