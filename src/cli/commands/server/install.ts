import { dirname } from "@std/path/dirname";
import { resolve } from "@std/path/resolve";
import { failureReason } from "../../../rules/system_error.ts";
import { type Build, currentBuild, withRunPermission } from "../../../version.ts";
import { type OptionSpec, variableOf } from "../../options/arguments.ts";
import type { Arguments } from "../../options/command.ts";
import { SERVE_OPTIONS } from "../../options/configuration.ts";
import { readServeOptions } from "../../options/serve_options.ts";
import {
  CommandError,
  type Environment,
  print,
  printError,
  UsageError,
} from "../../terminal/output.ts";
import { printable } from "../../terminal/text.ts";
import { writeSecrets } from "../secret_file.ts";
import { DEFAULT_ENV_FILE } from "../defaults.ts";

const SEE_HELP = "see kvdrive help install";
const DATA = "/var/lib/kvdrive";
/** Folders that a service does not share with the system (PrivateTmp). */
const TEMPORARY = ["/tmp", "/var/tmp"];
/** Ports below this one need root. */
const FIRST_FREE_PORT = 1024;

/** Writes a systemd unit that runs the server as this program was started. */
export async function install({ options }: Arguments, env: Environment): Promise<void> {
  const settings = unitSettings(options, currentBuild(env));
  const secrets = secretsOf(options);
  const path = options.get("path") ?? "-";
  const [program, runtime] = cachedFiles(settings.build, env);
  const warning = (program === undefined ? "" : cacheWarning(program, "kvdrive")) +
    (runtime === undefined ? "" : cacheWarning(runtime, "Deno")) +
    (program === undefined && runtime === undefined ? await reachWarning(settings) ?? "" : "");
  if (path === "-") {
    print(systemdUnit(settings));
    printError(warning);
    if (secrets.size > 0) printError(notInUnit(secrets, settings.envFile));
    return;
  }
  const isForced = options.has("force");
  if (secrets.size > 0) await writeSecrets(settings.envFile, secrets, isForced);
  await writeUnit(path, systemdUnit(settings), isForced);
  const advice = unitAdvice(settings, path.slice(path.lastIndexOf("/") + 1));
  const kept = secrets.size === 0 ? "" : isInFile(secrets, settings.envFile);
  printError(`The unit was written to ${printable(path)}.\n${warning}${kept}\n${advice}`);
}

/** Folders that programs keep caches in: npx and pnpm dlx among others, on Linux and on macOS. */
const CACHE_FOLDERS = /\/(_npx|\.npm|\.cache|Library\/Caches)\//;
/** Variables that name such folders. */
const CACHE_VARIABLES = ["XDG_CACHE_HOME", "npm_config_cache", "DENO_DIR"];

/** Returns the program and the runtime that a unit would start, each only if it is in a cache. */
export function cachedFiles(
  { command }: Build,
  env: Environment,
): [program: string | undefined, runtime: string | undefined] {
  const folders = CACHE_VARIABLES.flatMap((name) => env[name] || []);
  const ifCached = (path: string | undefined) => {
    const isCached = path !== undefined &&
      (CACHE_FOLDERS.test(path) || folders.some((folder) => path.startsWith(`${folder}/`)));
    return isCached ? path : undefined;
  };
  const runtime = command.length > 1 ? command[0] : undefined;
  return [ifCached(command.at(-1)), ifCached(runtime)];
}

function cacheWarning(path: string, program: string): string {
  return `Warning: ${printable(path)} is in a cache, which may be emptied. ` +
    `Install ${program} in another folder, and repeat the command with it.\n`;
}

/** Returns a warning if the user of a unit cannot reach a file of its program; `undefined` if all are within reach. */
async function reachWarning({ build, user }: UnitSettings): Promise<string | undefined> {
  if (Deno.build.os === "windows") return undefined;
  const accounts = await Deno.readTextFile("/etc/passwd").catch(() => "");
  const [, uid, gid] = new RegExp(`^${user}:[^:]*:(\\d+):(\\d+):`, "m").exec(accounts) ?? [];
  const account = { uid: Number(uid), gid: Number(gid) };
  for (const path of build.command.filter((word) => word.startsWith("/"))) {
    const closed = await closedPart(path, account);
    if (closed === undefined) continue;
    return `Warning: the user ${user} cannot reach ${printable(path)}, as ${
      printable(closed)
    } is closed to it. Install kvdrive in a folder such as /usr/local/bin, or choose another --user.\n`;
  }
  return undefined;
}

/** Bits of a mode: of a file that is read, and of a folder that is passed through. */
const READ = 4;
const ENTER = 1;

/** Returns the file, or the folder on its path, that an account has no right to; `undefined` also if that is unknown. */
async function closedPart(
  path: string,
  { uid, gid }: { uid: number; gid: number },
): Promise<string | undefined> {
  let real: string;
  try {
    real = await Deno.realPath(path);
  } catch (error) {
    // Below /dev and /proc the runtime looks with all permissions only.
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
  for (let part = real;; part = dirname(part)) {
    const info = await Deno.stat(part);
    const shift = info.uid === uid ? 6 : info.gid === gid ? 3 : 0;
    const wanted = part === real ? READ : ENTER;
    if (uid !== 0 && ((info.mode ?? 0) >> shift & wanted) === 0) return part;
    if (part === "/") return undefined;
  }
}

/** Returns the secrets among the options, by their variables. They must not be in a unit, which every user can read. */
function secretsOf(options: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const found = SERVE_OPTIONS.flatMap(({ name, isSecret }): [string, string][] => {
    const text = options.get(name);
    return isSecret && text !== undefined ? [[variableOf(name), text]] : [];
  });
  return new Map(found);
}

function notInUnit(secrets: ReadonlyMap<string, string>, file: string): string {
  const names = [...secrets.keys()].join(", ");
  return `Every user can read a unit, so it has no secrets. Add ${names} to ${file}, owned by root with mode 600.\n`;
}

function isInFile(secrets: ReadonlyMap<string, string>, file: string): string {
  const names = [...secrets.keys()].join(", ");
  return `Every user can read a unit, so ${names} was written to ${
    printable(file)
  }, which only its owner can read.\n`;
}

/**
 * Derives a unit's settings from the options. Paths become absolute, as a service has no working folder of its own.
 *
 * @throws {UsageError} if an option is invalid for a service.
 */
export function unitSettings(
  options: ReadonlyMap<string, string>,
  build: Build,
): UnitSettings {
  const user = options.get("user") ?? "kvdrive";
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(user)) {
    throw new UsageError(
      `Bad value "${user}" of --user: it must be a user name of a-z, 0-9, _ and -; ${SEE_HELP}`,
    );
  }
  const given = new Map([["data", DATA]]);
  for (const { name, value } of SERVE_OPTIONS) {
    const text = options.get(name);
    if (text !== undefined) given.set(name, isPath(value) ? resolve(text) : text);
  }
  const { data, port, appsPort, s3Port, acme, shutdownTimeout } = readServeOptions(given, {});
  const args = SERVE_OPTIONS.filter(({ isSecret }) => !isSecret)
    .flatMap((spec) => optionWords(spec, given.get(spec.name)));
  const envFile = resolve(options.get("env-file") ?? DEFAULT_ENV_FILE);
  requireNoControls(envFile);
  for (const word of [...build.command, ...args]) requireNoControls(word);
  const folders = SERVE_OPTIONS
    .filter(({ name, value }) => name !== "data" && value === "DIR")
    .flatMap(({ name }) => given.get(name) ?? []);
  for (const folder of [data, ...folders]) requirePersistent(folder);
  const hasLowPort = [port, appsPort, s3Port, acme?.httpPort, acme?.plain?.port].some((one) =>
    typeof one === "number" && one > 0 && one < FIRST_FREE_PORT
  );
  const starting = (given.get("processes") ?? "1") === "1" ? build : withRunPermission(build);
  return { build: starting, user, data, folders, args, envFile, hasLowPort, shutdownTimeout };
}

function isPath(value: string | undefined): boolean {
  return value === "DIR" || value === "FILE";
}

function optionWords({ name, value }: OptionSpec, text: string | undefined): string[] {
  if (text === undefined) return [];
  return value === undefined ? [`--${name}`] : [`--${name}`, text];
}

function requireNoControls(word: string): void {
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(word)) {
    throw new UsageError(`A unit cannot contain ${printable(word)}: it has a control character`);
  }
}

function requirePersistent(folder: string): void {
  if (TEMPORARY.some((one) => folder === one || folder.startsWith(`${one}/`))) {
    throw new UsageError(
      `The folder ${
        printable(folder)
      } is temporary, and private to each service: choose another one`,
    );
  }
}

async function writeUnit(path: string, text: string, isForced: boolean): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, isForced ? {} : { createNew: true });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CommandError(`The file ${path} exists: --force replaces it`);
    }
    const reason = failureReason(error);
    throw new CommandError(`Cannot write the unit ${path}: ${reason}`, { cause: error });
  }
}

/** The settings of a systemd unit. Paths are absolute. */
interface UnitSettings {
  build: Build;
  user: string;
  /** The store's folder. */
  data: string;
  /** Other folders that the server writes to. */
  folders: readonly string[];
  /** The arguments of `serve`, without secrets. */
  args: readonly string[];
  /** The file with further settings and secrets, which only root can read. */
  envFile: string;
  /** Whether the server listens on a port that needs root. */
  hasLowPort: boolean;
  /** Milliseconds. */
  shutdownTimeout: number;
}

/** Milliseconds to close the store, after the time for running transfers. */
const CLOSING_TIME = 20_000;

const STATE_FOLDER = "/var/lib/";
const CACHE_FOLDER = "/var/cache/kvdrive";
/** Home folders, which ProtectHome hides from a service. */
const HOMES = ["/home", "/root", "/run/user"];

/** Returns a unit that runs the server with no more rights than it needs. */
export function systemdUnit(settings: UnitSettings): string {
  const { build, user, args } = settings;
  return `# Written by "kvdrive install".
[Unit]
Description=kvdrive, file storage in named drives
Wants=network-online.target
After=network-online.target

[Service]
User=${user}
Group=${user}
# ":" keeps each "$" literal.
ExecStart=:${[...build.command, "serve", ...args].map(unitWord).join(" ")}
# Settings and secrets as KVDRIVE_...=..., in a file that only root can read.
EnvironmentFile=-${settings.envFile.replaceAll("%", "%%")}
Environment=DENO_TLS_CA_STORE=mozilla,system
${ownFolders(settings).map((line) => `${line}\n`).join("")}Restart=on-failure
RestartSec=2s
# An invalid command line stays invalid.
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=${Math.ceil((settings.shutdownTimeout + CLOSING_TIME) / 1000)}s
# The hard limit of systemd itself: each connection needs a file descriptor.
LimitNOFILE=524288
UMask=0077

# The file system is read-only except for these.
ProtectSystem=strict
ReadWritePaths=${[settings.data, ...settings.folders].map(unitWord).join(" ")}
ProtectHome=${isAmongHomes(settings) ? "read-only" : "yes"}
PrivateTmp=yes
PrivateDevices=yes

${capabilities(settings)}
NoNewPrivileges=yes
LockPersonality=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
# "@pkey": the runtime protects the code that it compiles.
SystemCallFilter=@system-service @pkey
SystemCallFilter=~@privileged
# No MemoryDenyWriteExecute: the runtime compiles JavaScript to machine code.

[Install]
WantedBy=multi-user.target
`;
}

/** Returns the settings for folders that systemd creates for the user. */
function ownFolders({ build, data }: UnitSettings): string[] {
  const state = data.startsWith(STATE_FOLDER) ? data.slice(STATE_FOLDER.length) : undefined;
  const stateLines = state === undefined || !/^[\w.-]+(\/[\w.-]+)*$/.test(state)
    ? []
    : [`StateDirectory=${state}`, "StateDirectoryMode=0700"];
  if (build.kind === "compiled") return stateLines;
  // The cache of the runtime and of compiled code.
  const variable = build.kind === "packed" ? "KVDRIVE_RUNTIME_DIR" : "DENO_DIR";
  return [
    ...stateLines,
    "CacheDirectory=kvdrive",
    "CacheDirectoryMode=0700",
    `Environment=${variable}=${CACHE_FOLDER}`,
  ];
}

function capabilities({ hasLowPort }: UnitSettings): string {
  if (!hasLowPort) return "CapabilityBoundingSet=";
  return "CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE";
}

function isAmongHomes({ build, data, folders }: UnitSettings): boolean {
  const paths = [data, ...folders, ...build.command.filter((word) => word.startsWith("/"))];
  return paths.some((path) => HOMES.some((home) => path === home || path.startsWith(`${home}/`)));
}

/** Quotes a word for systemd: `%` starts a specifier, white space ends a word, `\` escapes. */
function unitWord(word: string): string {
  const escaped = word.replaceAll("%", "%%").replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /^[\w\/.,:@%=+-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

/** Returns the commands that complete the installation, for the user to type. */
export function unitAdvice(
  { build, user, data, folders }: UnitSettings,
  unit: string,
): string {
  const made = [data, ...folders].map((folder) =>
    `install -d -o ${user} -g ${user} -m 700 ${shellWord(folder)}`
  );
  const cache = build.kind === "compiled"
    ? []
    : [`install -d -o ${user} -g ${user} -m 700 ${CACHE_FOLDER}`];
  const variable = build.kind === "packed" ? "KVDRIVE_RUNTIME_DIR" : "DENO_DIR";
  const prefix = build.kind === "compiled" ? "" : `env ${variable}=${CACHE_FOLDER} `;
  const command = `sudo -u ${user} ${prefix}${build.command.map(shellWord).join(" ")}`;
  return `As root, once:
  useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin ${user}
${[...made, ...cache].map((line) => `  ${line}\n`).join("")}
The secrets, which the first start would otherwise print to the system log:
  ${command} admin-token reset --data ${shellWord(data)}
  ${command} project create --data ${shellWord(data)}

Then:
  systemctl daemon-reload
  systemctl enable --now ${unit}
`;
}

function shellWord(word: string): string {
  return /^[\w\/.,:@%=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
