import type { Edition } from "./edition.ts";

/** What a unit for systemd is written for. Paths are absolute. */
export interface UnitSettings {
  edition: Edition;
  user: string;
  /** The store's folder. */
  data: string;
  /** Other folders that the server writes to. */
  folders: readonly string[];
  /** What stands behind `serve`, without secrets. */
  args: readonly string[];
  /** The file with further settings and secrets, which root alone reads. */
  envFile: string;
  /** Whether the server listens on a port that only root may take. */
  hasLowPort: boolean;
  /** Milliseconds. */
  shutdownTimeout: number;
}

/** Beside the time of the transfers, for the store to be closed: milliseconds. */
const CLOSING_TIME = 20_000;

const STATE = "/var/lib/";
const CACHE = "/var/cache/kvdrive";
/** Folders of people, which a service does not see. */
const HOMES = ["/home", "/root", "/run/user"];

/** The unit in which systemd runs the server with no more rights than it needs. */
export function systemdUnit(settings: UnitSettings): string {
  const { edition, user, args } = settings;
  return `# Written by "kvdrive install".
[Unit]
Description=kvdrive, file storage in named drives
Wants=network-online.target
After=network-online.target

[Service]
User=${user}
Group=${user}
# ":" leaves each "$" as it is.
ExecStart=:${[...edition.command, "serve", ...args].map(unitWord).join(" ")}
# Settings and secrets as KVDRIVE_...=..., in a file that root alone reads.
EnvironmentFile=-${settings.envFile.replaceAll("%", "%%")}
Environment=DENO_TLS_CA_STORE=mozilla,system
${ownFolders(settings).map((line) => `${line}\n`).join("")}Restart=on-failure
RestartSec=2s
# A command line that cannot be followed stays so.
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=${Math.ceil((settings.shutdownTimeout + CLOSING_TIME) / 1000)}s
# The hard limit that systemd itself has: each connection needs a descriptor.
LimitNOFILE=524288
UMask=0077

# The whole file system is read-only but for these.
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
# "@pkey": the runtime protects the code that it makes.
SystemCallFilter=@system-service @pkey
SystemCallFilter=~@privileged
# No MemoryDenyWriteExecute: the runtime compiles JavaScript to machine code while it runs.

[Install]
WantedBy=multi-user.target
`;
}

/** Folders that systemd makes and gives to the user. */
function ownFolders({ edition, data }: UnitSettings): string[] {
  const state = data.startsWith(STATE) ? data.slice(STATE.length) : undefined;
  const stateLines = state === undefined || !/^[\w.-]+(\/[\w.-]+)*$/.test(state)
    ? []
    : [`StateDirectory=${state}`, "StateDirectoryMode=0700"];
  if (edition.kind === "compiled") return stateLines;
  // The runtime, or what it has compiled, is kept there.
  const variable = edition.kind === "packed" ? "KVDRIVE_RUNTIME_DIR" : "DENO_DIR";
  return [
    ...stateLines,
    "CacheDirectory=kvdrive",
    "CacheDirectoryMode=0700",
    `Environment=${variable}=${CACHE}`,
  ];
}

function capabilities({ hasLowPort }: UnitSettings): string {
  if (!hasLowPort) return "CapabilityBoundingSet=";
  return "CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE";
}

function isAmongHomes({ edition, data, folders }: UnitSettings): boolean {
  const paths = [data, ...folders, ...edition.command.filter((word) => word.startsWith("/"))];
  return paths.some((path) => HOMES.some((home) => path === home || path.startsWith(`${home}/`)));
}

/** A word as systemd reads it: `%` begins a specifier, white space ends a word, `\` escapes. */
function unitWord(word: string): string {
  const escaped = word.replaceAll("%", "%%").replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /^[\w\/.,:@%=+-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

/** What is to be done beside the unit, as a person types it. */
export function unitAdvice(
  { edition, user, data, folders }: UnitSettings,
  unit: string,
): string {
  const made = [data, ...folders].map((folder) =>
    `install -d -o ${user} -g ${user} -m 700 ${shellWord(folder)}`
  );
  const cache = edition.kind === "compiled"
    ? []
    : [`install -d -o ${user} -g ${user} -m 700 ${CACHE}`];
  const variable = edition.kind === "packed" ? "KVDRIVE_RUNTIME_DIR" : "DENO_DIR";
  const prefix = edition.kind === "compiled" ? "" : `env ${variable}=${CACHE} `;
  const command = `sudo -u ${user} ${prefix}${edition.command.map(shellWord).join(" ")}`;
  return `As root, once:
  useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin ${user}
${[...made, ...cache].map((line) => `  ${line}\n`).join("")}
The secrets, which the first start would print into the system's log:
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
