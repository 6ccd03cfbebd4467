import { resolve } from "@std/path";
import { failureReason } from "../drive/reason.ts";
import type { Command } from "./command.ts";
import { type Edition, editionOf } from "./edition.ts";
import { type OptionSpec, parseFlags } from "./flags.ts";
import { writeSecrets } from "./env_file.ts";
import { type Environment, variableOf } from "./given_values.ts";
import { parseServeOptions } from "./options.ts";
import { SERVE_OPTIONS } from "./serve_options.ts";
import { print, printError } from "./output.ts";
import { systemdUnit, unitAdvice, type UnitSettings } from "./systemd_unit.ts";
import { CommandError, UsageError } from "./usage_error.ts";
import { quoted, visible } from "./visible.ts";

/** Where secrets are: systemd reads the file as root, before it becomes the server's user. */
const DEFAULT_ENV_FILE = "/etc/kvdrive/env";

const OPTIONS: readonly OptionSpec[] = [
  {
    name: "path",
    value: "FILE",
    help: "where to write the unit, - for standard output (-)",
  },
  { name: "user", value: "NAME", help: "whom the server runs as (kvdrive)" },
  {
    name: "env-file",
    value: "FILE",
    help: `file for secrets, which the unit reads (${DEFAULT_ENV_FILE})`,
  },
  { name: "force", help: "replace a file, or a secret, that is there" },
];

const FORM =
  "kvdrive install [--path FILE] [--user NAME] [--env-file FILE] [--force] [OPTIONS OF SERVE]";
const SEE_HELP = "see kvdrive help install";
const DATA = "/var/lib/kvdrive";
/** A service has folders of its own in their place. */
const TEMPORARY = ["/tmp", "/var/tmp"];
/** Ports below it are for root. */
const FIRST_FREE_PORT = 1024;

/** Writes a unit for systemd that runs the server as this program was started. */
export const INSTALL: Command = {
  name: "install",
  form: FORM,
  summary: "write a unit for systemd that runs the server",
  options: OPTIONS,
  run: install,
};

/** @throws {UsageError} on a bad command line. @throws {CommandError} where the file cannot be written. */
async function install(args: string[], env: Environment): Promise<void> {
  const { options, operands: [stray] } = parseFlags([...OPTIONS, ...SERVE_OPTIONS], args, SEE_HELP);
  if (stray !== undefined) throw new UsageError(`Unknown argument ${quoted(stray)}: ${SEE_HELP}`);
  const settings = unitSettings(options, editionOf(env));
  const secrets = secretsOf(options);
  const path = options.get("path") ?? "-";
  if (path === "-") {
    print(systemdUnit(settings));
    if (secrets.size > 0) printError(notInUnit(secrets, settings.envFile));
    return;
  }
  const isForced = options.has("force");
  if (secrets.size > 0) await writeSecrets(settings.envFile, secrets, isForced);
  await writeUnit(path, systemdUnit(settings), isForced);
  const advice = unitAdvice(settings, path.slice(path.lastIndexOf("/") + 1));
  const kept = secrets.size === 0 ? "" : isInFile(secrets, settings.envFile);
  printError(`The unit is in ${visible(path)}.\n${kept}\n${advice}`);
}

/** The secrets among the options, by their variables. A unit can be read by every user of the machine. */
function secretsOf(options: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const found = SERVE_OPTIONS.flatMap(({ name, isSecret }): [string, string][] => {
    const text = options.get(name);
    return isSecret && text !== undefined ? [[variableOf(name), text]] : [];
  });
  return new Map(found);
}

function notInUnit(secrets: ReadonlyMap<string, string>, file: string): string {
  const names = [...secrets.keys()].join(", ");
  return `Every user can read a unit, so it has no secrets: put ${names} into ${file}, owned by root with mode 600.\n`;
}

function isInFile(secrets: ReadonlyMap<string, string>, file: string): string {
  const names = [...secrets.keys()].join(", ");
  return `Every user can read a unit, so ${names} is in ${
    visible(file)
  }, which only its owner reads.\n`;
}

/**
 * What the options say of the unit. Paths among them become absolute, as a service has no folder that it is started in.
 *
 * @throws {UsageError} where one of them cannot be followed.
 */
export function unitSettings(
  options: ReadonlyMap<string, string>,
  edition: Edition,
): UnitSettings {
  const user = options.get("user") ?? "kvdrive";
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(user)) {
    throw new UsageError(
      `Bad value "${user}" of --user: it must be a user's name, a-z, 0-9, _ and -; ${SEE_HELP}`,
    );
  }
  const given = new Map([["data", DATA]]);
  for (const { name, value } of SERVE_OPTIONS) {
    const text = options.get(name);
    if (text !== undefined) given.set(name, isPath(value) ? resolve(text) : text);
  }
  const all = SERVE_OPTIONS.flatMap((spec) => optionWords(spec, given.get(spec.name)));
  const { data, port, appsPort, shutdownTimeout } = parseServeOptions(all, {});
  const args = SERVE_OPTIONS.filter(({ isSecret }) => !isSecret)
    .flatMap((spec) => optionWords(spec, given.get(spec.name)));
  const envFile = resolve(options.get("env-file") ?? DEFAULT_ENV_FILE);
  assertFits(envFile);
  for (const word of [...edition.command, ...args]) assertFits(word);
  const folders = SERVE_OPTIONS
    .filter(({ name, value }) => name !== "data" && value === "DIR")
    .flatMap(({ name }) => given.get(name) ?? []);
  for (const folder of [data, ...folders]) assertLasts(folder);
  const hasLowPort = [port, appsPort].some((one) =>
    typeof one === "number" && one > 0 && one < FIRST_FREE_PORT
  );
  return { edition, user, data, folders, args, envFile, hasLowPort, shutdownTimeout };
}

function isPath(value: string | undefined): boolean {
  return value === "DIR" || value === "FILE";
}

function optionWords({ name, value }: OptionSpec, text: string | undefined): string[] {
  if (text === undefined) return [];
  return value === undefined ? [`--${name}`] : [`--${name}`, text];
}

function assertFits(word: string): void {
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(word)) {
    throw new UsageError(`A unit cannot name ${visible(word)}: it has a control character`);
  }
}

function assertLasts(folder: string): void {
  if (TEMPORARY.some((one) => folder === one || folder.startsWith(`${one}/`))) {
    throw new UsageError(
      `The folder ${
        visible(folder)
      } is not for a service, which has temporary folders of its own: name another one`,
    );
  }
}

async function writeUnit(path: string, text: string, isForced: boolean): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, isForced ? {} : { createNew: true });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CommandError(`There is a file ${path} already: --force replaces it`);
    }
    const reason = failureReason(error);
    throw new CommandError(`Cannot write the unit: ${reason}`, { cause: error });
  }
}
