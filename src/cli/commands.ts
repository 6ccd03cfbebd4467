import { accountCommands } from "./commands/account/table.ts";
import {
  appCommands,
  keyCommands,
  projectCommands,
  reportCommands,
  webhookCommands,
} from "./commands/admin/table.ts";
import { fileCommands } from "./commands/files/table.ts";
import {
  healthcheckCommand,
  installCommand,
  serveCommand,
  versionCommand,
} from "./commands/server/table.ts";
import {
  driveCommands,
  linkCommands,
  trashCommands,
  uploadCommands,
} from "./commands/sharing/table.ts";
import { storeCommands } from "./commands/store/table.ts";
import { SHELLS } from "./commands/completion/scripts.ts";
import type { Command } from "./options/command.ts";
import type { Section } from "./options/help.ts";

const completionCommand: Command = {
  name: "completion",
  oldNames: ["completions"],
  operands: [SHELLS.join("|")],
  summary: "print a completion script for a shell",
  examples: [
    ["source <(kvdrive completion bash)", "Complete in this bash; add the line to ~/.bashrc"],
    ["source <(kvdrive completion zsh)", "Complete in this zsh; add the line to ~/.zshrc"],
    [
      "kvdrive completion fish > ~/.config/fish/completions/kvdrive.fish",
      "Complete in every fish",
    ],
    [
      "kvdrive completion powershell | Out-String | Invoke-Expression",
      "Complete in this PowerShell; add the line to $PROFILE",
    ],
  ],
  load: async () => (await import("./commands/completion/scripts.ts")).printScript,
};

/** What the completion scripts call. */
const completeCommand: Command = {
  name: "complete",
  operands: ["[WORD...]"],
  isHidden: true,
  summary: "print what the last word of a command line can be",
  examples: [["kvdrive complete -- ls photos:ca", "Print the files that begin with ca"]],
  async load() {
    const { complete } = await import("./commands/completion/complete.ts");
    return (args, env) => complete(COMMANDS, args, env);
  },
};

/** Every command except `help`, in the order of the help. */
export const SECTIONS: readonly Section[] = [
  { title: "Server", commands: [serveCommand, healthcheckCommand, installCommand] },
  { title: "Files", commands: fileCommands },
  {
    title: "Drives, links and trash",
    commands: [...driveCommands, ...linkCommands, ...trashCommands, ...uploadCommands],
  },
  { title: "Login", commands: accountCommands },
  {
    title: "Projects and keys",
    commands: [...projectCommands, ...keyCommands, ...webhookCommands, ...reportCommands],
  },
  { title: "Applications", commands: appCommands },
  { title: "Store, on its own machine", commands: storeCommands },
  { title: "This program", commands: [versionCommand, completionCommand, completeCommand] },
];

export const COMMANDS: readonly Command[] = SECTIONS.flatMap(({ commands }) => commands);
