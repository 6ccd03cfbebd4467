import type { OptionSpec } from "../../options/arguments.ts";
import type { Command } from "../../options/command.ts";
import { adminCommand, S3_SECRET_FILE } from "../command_kinds.ts";
import { DEFAULT_EVENTS, DEFAULT_USAGE_DAYS } from "../defaults.ts";

const APP_OPERANDS = ["PROJECT", "APP"];

const KEY_NAME: OptionSpec = {
  name: "name",
  short: "n",
  value: "NAME",
  isRequired: true,
  help: "name of the key",
};

export const projectCommands: readonly Command[] = [
  adminCommand({
    name: "project create",
    operands: ["[NAME]"],
    options: [
      { name: "id", value: "ID", help: "the id, 1 to 64 of A-Z a-z 0-9 -", unset: "random" },
      { name: "max-bytes", value: "SIZE", help: "limit for the size of its files", unset: "none" },
      { name: "max-files", value: "N", help: "limit for the number of its files", unset: "none" },
      {
        name: "trash-days",
        value: "N",
        help: "days that its trash keeps files",
        unset: "as serve --trash-days says",
      },
    ],
    makesStore: true,
    summary: "create a project and its first key",
    examples: [
      ['kvdrive project create "Photo album" --id album', "Print the id and the first key"],
      ["kvdrive project create --max-bytes 10GB", "A project with a limit"],
    ],
    load: async () => (await import("./project.ts")).createProject,
  }),
  adminCommand({
    name: "project list",
    summary: "list the projects and their sizes",
    examples: [["kvdrive project list", "Print a table; --json for programs"]],
    load: async () => (await import("./project.ts")).listProjects,
  }),
  adminCommand({
    name: "project show",
    operands: ["ID"],
    summary: "show a project and its drives",
    examples: [["kvdrive project show album", "Print its usage and its settings"]],
    load: async () => (await import("./project.ts")).showProject,
  }),
  adminCommand({
    name: "project change",
    operands: ["ID"],
    options: [
      { name: "name", value: "NAME", help: "its name, or none" },
      {
        name: "max-bytes",
        value: "SIZE",
        help: "limit for the size of its files, or none",
      },
      {
        name: "max-files",
        value: "N",
        help: "limit for the number of its files, or none",
      },
      {
        name: "host-suffix",
        value: "DOMAIN",
        help: "domain below which its owner may choose host names, or none",
      },
      {
        name: "trash-days",
        value: "N",
        help: "days that the trash keeps files; 0 turns it off",
      },
      {
        name: "change-days",
        value: "N",
        help: "days that changes are kept; 0 turns that off",
      },
    ],
    summary: "set the limits, the host names, the trash and the feed of a project",
    examples: [
      ["kvdrive project change album --max-bytes 20GB", "Set the limit"],
      ["kvdrive project change album --max-bytes none", "Remove it"],
    ],
    load: async () => (await import("./project.ts")).changeProject,
  }),
  adminCommand({
    name: "project delete",
    operands: ["ID"],
    asks: true,
    summary: "delete a project with its drives, keys and applications",
    examples: [["kvdrive project delete album", "Delete it, after a question"]],
    load: async () => (await import("./project.ts")).deleteProject,
  }),
];

/** The options of a command that creates a key. @param prefix The name of the one that limits names. */
function keyOptions(prefix: string): OptionSpec[] {
  return [
    { name: "name", short: "n", value: "NAME", help: "name of the key, for lists" },
    {
      name: "permissions",
      value: "LIST",
      help: "of read, write, delete, list and admin, comma-separated",
      unset: "all",
    },
    { name: "drives", value: "LIST", help: "drives, comma-separated", unset: "all" },
    { name: prefix, value: "TEXT", help: "only names that begin with it", unset: "all" },
    { name: "expires-in", value: "TIME", help: "life of the key", unset: "it does not expire" },
  ];
}

export const keyCommands: readonly Command[] = [
  adminCommand({
    name: "key create",
    operands: ["PROJECT"],
    options: keyOptions("name-prefix"),
    summary: "create another key for a project",
    examples: [
      ["kvdrive key create album --name laptop", "Print a new key"],
      ["kvdrive key create album --permissions read,list --expires-in 7d", "A key for readers"],
    ],
    load: async () => (await import("./key.ts")).createKey,
  }),
  adminCommand({
    name: "key list",
    operands: ["PROJECT"],
    summary: "list the keys of a project by their prefixes",
    examples: [["kvdrive key list album", "Print a table"]],
    load: async () => (await import("./key.ts")).listKeys,
  }),
  adminCommand({
    name: "key revoke",
    operands: ["PROJECT", "PREFIX"],
    asks: true,
    summary: "revoke a key",
    examples: [["kvdrive key revoke album Xy12AbCd", "Revoke it, after a question"]],
    load: async () => (await import("./key.ts")).revokeKey,
  }),
  adminCommand({
    name: "s3-key create",
    operands: ["PROJECT"],
    options: [...keyOptions("prefix"), S3_SECRET_FILE],
    summary: "create a key for S3 clients",
    examples: [
      ["kvdrive s3-key create album --name backup", "Print an access key id and its secret"],
      ["kvdrive s3-key create album --drives photos --permissions read,list", "Only reads photos"],
    ],
    load: async () => (await import("./key.ts")).createS3Key,
  }),
  adminCommand({
    name: "s3-key list",
    operands: ["PROJECT"],
    options: [S3_SECRET_FILE],
    summary: "list the S3 keys of a project",
    examples: [["kvdrive s3-key list album", "Print a table"]],
    load: async () => (await import("./key.ts")).listS3Keys,
  }),
  adminCommand({
    name: "s3-key revoke",
    operands: ["PROJECT", "ACCESS-KEY-ID"],
    asks: true,
    summary: "revoke an S3 key",
    examples: [["kvdrive s3-key revoke album KV5T8QZ0M3RWXN7J2B4K", "Revoke it, after a question"]],
    load: async () => (await import("./key.ts")).revokeS3Key,
  }),
];

export const appCommands: readonly Command[] = [
  adminCommand({
    name: "app create",
    operands: ["PROJECT", "NAME"],
    options: [
      {
        name: "upstream",
        value: "URL",
        isRequired: true,
        help: "address of the application, such as http://127.0.0.1:3000",
      },
      {
        name: "host",
        value: "HOST",
        help: "host name of the application, such as app.example.com",
      },
      { name: "protect", help: "turn access control on" },
    ],
    summary: "register an application with the gate",
    examples: [
      ["kvdrive app create album viewer --upstream http://127.0.0.1:3000", "Open to everyone"],
    ],
    load: async () => (await import("./app.ts")).createApp,
  }),
  adminCommand({
    name: "app list",
    operands: ["PROJECT"],
    summary: "list the applications of a project",
    examples: [["kvdrive app list album", "Print a table"]],
    load: async () => (await import("./app.ts")).listApps,
  }),
  adminCommand({
    name: "app show",
    operands: ["PROJECT", "NAME"],
    summary: "show an application",
    examples: [["kvdrive app show album viewer", "Print its addresses"]],
    load: async () => (await import("./app.ts")).showApp,
  }),
  adminCommand({
    name: "app change",
    operands: ["PROJECT", "NAME"],
    options: [
      { name: "upstream", value: "URL", help: "address of the application, or none" },
      { name: "host", value: "HOST", help: "host name of the application, or none" },
    ],
    summary: "change the addresses of an application",
    examples: [
      ["kvdrive app change album viewer --host viewer.example.com", "Give it a host name"],
    ],
    load: async () => (await import("./app.ts")).changeApp,
  }),
  adminCommand({
    name: "app delete",
    operands: ["PROJECT", "NAME"],
    asks: true,
    summary: "delete an application and its keys",
    examples: [["kvdrive app delete album viewer", "Delete it, after a question"]],
    load: async () => (await import("./app.ts")).deleteApp,
  }),
  adminCommand({
    name: "access on",
    oldNames: ["auth enable"],
    operands: APP_OPERANDS,
    summary: "require a key, or the owner's session, for every request",
    examples: [["kvdrive access on album viewer", "Protect an application"]],
    load: async () => (await import("./app.ts")).protectApp,
  }),
  adminCommand({
    name: "access off",
    oldNames: ["auth disable"],
    operands: APP_OPERANDS,
    summary: "allow every request; keys are kept",
    examples: [["kvdrive access off album viewer", "Open an application to everyone"]],
    load: async () => (await import("./app.ts")).openApp,
  }),
  adminCommand({
    name: "app-key create",
    oldNames: ["auth create-api-key"],
    operands: APP_OPERANDS,
    options: [
      KEY_NAME,
      { name: "desc", short: "d", value: "TEXT", help: "description of the key" },
      {
        name: "outfile",
        short: "o",
        value: "FILE",
        help: "new file to write the key to, readable only by you",
      },
    ],
    summary: "create a key for an application",
    examples: [
      ["kvdrive app-key create album viewer --name ci --outfile viewer.key", "Into a new file"],
    ],
    load: async () => (await import("./app.ts")).createAppKey,
  }),
  adminCommand({
    name: "app-key list",
    oldNames: ["auth list-api-keys"],
    operands: APP_OPERANDS,
    summary: "list the keys of an application, without their secrets",
    examples: [["kvdrive app-key list album viewer", "Print a table"]],
    load: async () => (await import("./app.ts")).listAppKeys,
  }),
  adminCommand({
    name: "app-key revoke",
    oldNames: ["auth delete-api-key"],
    operands: APP_OPERANDS,
    options: [KEY_NAME],
    asks: true,
    summary: "revoke a key of an application",
    examples: [["kvdrive app-key revoke album viewer --name ci", "Revoke it, after a question"]],
    load: async () => (await import("./app.ts")).revokeAppKey,
  }),
];

const WEBHOOK_OPERANDS = ["PROJECT", "ID"];

export const webhookCommands: readonly Command[] = [
  adminCommand({
    name: "webhook create",
    operands: ["PROJECT", "URL"],
    options: [
      { ...KEY_NAME, help: "name of the webhook" },
      { name: "drives", value: "NAMES", help: "only these drives, comma-separated" },
      { name: "name-prefix", value: "TEXT", help: "only names that begin with this" },
      { name: "types", value: "TYPES", help: "only these of put, delete, move, comma-separated" },
    ],
    summary: "deliver the changes of a project to an address",
    examples: [
      [
        "kvdrive webhook create album https://example.com/hook --name index",
        "Print its id and the secret that signs deliveries",
      ],
    ],
    load: async () => (await import("./webhook.ts")).createWebhook,
  }),
  adminCommand({
    name: "webhook list",
    operands: ["PROJECT"],
    summary: "list the webhooks of a project and their last deliveries",
    examples: [["kvdrive webhook list album", "Print a table; --json has more"]],
    load: async () => (await import("./webhook.ts")).listWebhooks,
  }),
  adminCommand({
    name: "webhook test",
    operands: WEBHOOK_OPERANDS,
    summary: "send a test to the receiver, and print its answer",
    examples: [["kvdrive webhook test album 01J9Z3NDEKTSV4RRFFQ69G5FAV", "Send it now"]],
    load: async () => (await import("./webhook.ts")).testWebhook,
  }),
  adminCommand({
    name: "webhook enable",
    operands: WEBHOOK_OPERANDS,
    summary: "enable a webhook that was disabled",
    examples: [["kvdrive webhook enable album 01J9Z3NDEKTSV4RRFFQ69G5FAV", "Deliver what waits"]],
    load: async () => (await import("./webhook.ts")).enableWebhook,
  }),
  adminCommand({
    name: "webhook delete",
    operands: WEBHOOK_OPERANDS,
    asks: true,
    summary: "delete a webhook",
    examples: [
      ["kvdrive webhook delete album 01J9Z3NDEKTSV4RRFFQ69G5FAV", "Delete it, after a question"],
    ],
    load: async () => (await import("./webhook.ts")).deleteWebhook,
  }),
];

export const reportCommands: readonly Command[] = [
  adminCommand({
    name: "event list",
    operands: ["[PROJECT]"],
    options: [
      { name: "limit", value: "N", help: "events to show", default: String(DEFAULT_EVENTS) },
    ],
    summary: "list who changed what in a project, or on the server",
    examples: [
      ["kvdrive event list album", "The newest events of a project"],
      ["kvdrive event list --limit 1000 --json", "Those of the whole server"],
    ],
    load: async () => (await import("./reports.ts")).listEvents,
  }),
  adminCommand({
    name: "usage",
    operands: ["[PROJECT]"],
    options: [
      { name: "days", value: "N", help: "days to show", default: String(DEFAULT_USAGE_DAYS) },
    ],
    summary: "show the files, bytes and requests of each day",
    examples: [
      ["kvdrive usage album --days 7", "The last week of a project"],
      ["kvdrive usage", "All projects together"],
    ],
    load: async () => (await import("./reports.ts")).showUsage,
  }),
];
