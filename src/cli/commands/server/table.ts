import { currentBuild, VERSION } from "../../../version.ts";
import type { Command } from "../../options/command.ts";
import { SERVE_OPTIONS } from "../../options/configuration.ts";
import { print } from "../../terminal/output.ts";
import { DEFAULT_ENV_FILE, DEFAULT_HEALTH_TIMEOUT } from "../defaults.ts";

export const serveCommand: Command = {
  name: "serve",
  usage: "[OPTIONS]",
  summary: "start the server",
  options: SERVE_OPTIONS,
  examples: [
    ["kvdrive serve", "Listen on http://127.0.0.1:8000, with the store in ./data"],
    ["kvdrive serve --port 9000 --data /srv/files", "Another port, and another folder"],
    ["kvdrive serve --backup-dir /srv/backups --every 6h", "Back the store up every six hours"],
  ],
  load: async () => (await import("../../serve/serve.ts")).runServe,
};

export const healthcheckCommand: Command = {
  name: "healthcheck",
  summary: "check whether the server is ready, for containers",
  options: [
    {
      name: "url",
      value: "URL",
      help: "address of the server",
      unset: "KVDRIVE_HOSTNAME and KVDRIVE_PORT",
    },
    {
      name: "timeout",
      value: "TIME",
      help: "time for its answer",
      default: DEFAULT_HEALTH_TIMEOUT,
    },
    { name: "json", help: "print JSON: ready, and problem" },
  ],
  examples: [
    ["kvdrive healthcheck", "Ask the server with the settings of this environment"],
    ["kvdrive healthcheck --url https://files.example.com", "Ask another server"],
  ],
  load: async () => (await import("./healthcheck.ts")).checkHealth,
};

export const installCommand: Command = {
  name: "install",
  usage: "[--path FILE] [--user NAME] [--env-file FILE] [--force] [OPTIONS OF SERVE]",
  summary: "write a systemd unit that runs the server",
  options: [
    {
      name: "path",
      value: "FILE",
      help: "where to write the unit; - is standard output",
      default: "-",
    },
    { name: "user", value: "NAME", help: "user that runs the server", default: "kvdrive" },
    {
      name: "env-file",
      value: "FILE",
      help: "file with secrets, which the unit reads",
      default: DEFAULT_ENV_FILE,
    },
    { name: "force", help: "replace an existing file or secret" },
  ],
  furtherOptions: SERVE_OPTIONS,
  examples: [
    ["kvdrive install --port 80", "Print the unit of a server on port 80"],
    [
      "kvdrive install --path /etc/systemd/system/kvdrive.service --data /srv/files",
      "Write the unit, with the store in /srv/files",
    ],
  ],
  load: async () => (await import("./install.ts")).install,
};

export const versionCommand: Command = {
  name: "version",
  summary: "print the version, and how kvdrive was built",
  examples: [["kvdrive version", "Print one line"]],
  load: () =>
    Promise.resolve((_args, env) =>
      print(`kvdrive ${VERSION} (${currentBuild(env).kind}, deno ${Deno.version.deno})\n`)
    ),
};
