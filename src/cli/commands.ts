import { adminTokenCommands } from "./admin_token_commands.ts";
import { appCommands } from "./app_commands.ts";
import { authCommands } from "./auth_commands.ts";
import type { Command } from "./command.ts";
import { givenCredentials } from "./credentials.ts";
import { keyCommands } from "./key_commands.ts";
import { parseServeOptions, SERVE_OPTIONS } from "./options.ts";
import { print } from "./output.ts";
import { projectCommands } from "./project_commands.ts";
import { serve } from "./serve.ts";
import { storeCommand } from "./store_command.ts";
import { VERSION } from "./version.ts";

/** Every command but `help`, which shows them. */
export const COMMANDS: readonly Command[] = [
  {
    name: "serve",
    form: "kvdrive serve [OPTIONS]",
    summary: "start the server",
    options: SERVE_OPTIONS,
    run: (args, env) => serve(parseServeOptions(args, env), givenCredentials(env)),
  },
  ...[...projectCommands, ...keyCommands, ...appCommands, ...authCommands, ...adminTokenCommands]
    .map(storeCommand),
  {
    name: "version",
    form: "kvdrive version",
    summary: "print the version",
    options: [],
    run: () => print(`kvdrive ${VERSION}\n`),
  },
];

/** The commands that words name: one, or all of a group such as `project`. None where they name nothing. */
export function commandsOf([first = "", second = ""]: readonly string[]): readonly Command[] {
  const exact = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`);
  return exact !== undefined
    ? [exact]
    : COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
}
