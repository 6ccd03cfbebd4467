import type { Command } from "../../options/command.ts";
import { CLIENT_OPTIONS, commandWith, commandWithoutStore } from "../command_kinds.ts";

/** Makes a command that is told the server by other means than the options of the connection. */
const loginCommand = commandWith(
  CLIENT_OPTIONS.filter(({ name }) => ["cacert", "retry-for", "verbose", "json"].includes(name)),
);

/** Makes a command that works with any project of a server. */
const identityCommand = commandWith(CLIENT_OPTIONS.filter(({ name }) => name !== "project"));

export const accountCommands: readonly Command[] = [
  loginCommand({
    name: "login",
    operands: ["URL"],
    options: [{
      name: "profile",
      value: "NAME",
      help: "name under which the server is saved",
      default: "default",
    }],
    summary: "save the address and the key of a server, for all commands",
    examples: [
      ["kvdrive login https://files.example.com", "Ask for a project key or the admin token"],
      ["kvdrive login http://127.0.0.1:8000 --profile home < key.txt", "Read it from a file"],
    ],
    load: async () => (await import("./login.ts")).login,
  }),
  commandWithoutStore({
    name: "logout",
    options: [{ name: "profile", value: "NAME", help: "the profile", unset: "the current one" }],
    summary: "forget a server and its key",
    examples: [["kvdrive logout --profile home", "Remove the profile home"]],
    load: async () => (await import("./login.ts")).logout,
  }),
  identityCommand({
    name: "whoami",
    summary: "show the server that commands talk to, and what the key allows",
    examples: [["kvdrive whoami", "Ask the server what the key allows"]],
    load: async () => (await import("./login.ts")).showIdentity,
  }),
  commandWithoutStore({
    name: "profile list",
    summary: "list the saved servers",
    examples: [["kvdrive profile list", "Print a table, without the keys"]],
    load: async () => (await import("./login.ts")).listProfiles,
  }),
  commandWithoutStore({
    name: "profile use",
    operands: ["NAME"],
    summary: "choose the server that commands talk to",
    examples: [["kvdrive profile use home", "Make home the current profile"]],
    load: async () => (await import("./login.ts")).chooseProfile,
  }),
];
