import type { Command } from "../../options/command.ts";
import type { OptionSpec } from "../../options/arguments.ts";
import { CLIENT_OPTIONS } from "../command_kinds.ts";

const JSON_OPTION: OptionSpec = { name: "json", help: "print JSON" };

/** The options of the connection, without those that choose the server. */
const CONNECTION_OPTIONS = CLIENT_OPTIONS.filter(({ name }) =>
  ["cacert", "retry-for", "verbose", "json"].includes(name)
);

export const accountCommands: readonly Command[] = [
  {
    name: "login",
    operands: ["URL"],
    options: [{
      name: "profile",
      value: "NAME",
      help: "name under which the server is saved",
      default: "default",
    }],
    commonOptions: CONNECTION_OPTIONS,
    summary: "save the address and the key of a server, for all commands",
    examples: [
      ["kvdrive login https://files.example.com", "Ask for a project key or the admin token"],
      ["kvdrive login http://127.0.0.1:8000 --profile home < key.txt", "Read it from a file"],
    ],
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "logout",
    options: [{ name: "profile", value: "NAME", help: "the profile", unset: "the current one" }],
    commonOptions: [JSON_OPTION],
    summary: "forget a server and its key",
    examples: [["kvdrive logout --profile home", "Remove the profile home"]],
    load: async () => (await import("./login.ts")).logout,
  },
  {
    name: "whoami",
    commonOptions: CLIENT_OPTIONS.filter(({ name }) => name !== "project"),
    summary: "show the server that commands talk to, and what the key allows",
    examples: [["kvdrive whoami", "Ask the server what the key allows"]],
    load: async () => (await import("./login.ts")).showIdentity,
  },
  {
    name: "profile list",
    commonOptions: [JSON_OPTION],
    summary: "list the saved servers",
    examples: [["kvdrive profile list", "Print a table, without the keys"]],
    load: async () => (await import("./login.ts")).listProfiles,
  },
  {
    name: "profile use",
    operands: ["NAME"],
    commonOptions: [JSON_OPTION],
    summary: "choose the server that commands talk to",
    examples: [["kvdrive profile use home", "Make home the current profile"]],
    load: async () => (await import("./login.ts")).chooseProfile,
  },
];
