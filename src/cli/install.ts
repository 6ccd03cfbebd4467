import { resolve } from "@std/path";
import type { Command } from "./command.ts";
import { type Edition, editionOf } from "./edition.ts";
import { type OptionSpec, parseFlags } from "./flags.ts";
import type { Environment } from "./given_values.ts";
import { parseServeOptions } from "./options.ts";
import { SERVE_OPTIONS } from "./serve_options.ts";
import { print, printError } from "./output.ts";
import { systemdUnit, unitAdvice, type UnitSettings } from "./systemd_unit.ts";
import { CommandError, UsageError } from "./usage_error.ts";
import { visible } from "./visible.ts";

const OPTIONS: readonly OptionSpec[] = [
  {
    name: "path",
    value: "FILE",
    help: "where to write the unit, - for standard output (-)",
  },
  { name: "user", value: "NAME", help: "whom the server runs as (kvdrive)" },
  { name: "force", help: "replace a file that is there" },
];

const FORM = "kvdrive install [--path FILE] [--user NAME] [--force] [OPTIONS OF SERVE]";
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
  if (stray !== undefined) throw new UsageError(`Unknown argument "${stray}": ${SEE_HELP}`);
  const settings = unitSettings(options, editionOf(env));
  const path = options.get("path") ?? "-";
  if (path === "-") {
    print(systemdUnit(settings));
    return;
  }
  await writeUnit(path, systemdUnit(settings), options.has("force"));
  const advice = unitAdvice(settings, path.slice(path.lastIndexOf("/") + 1));
  printError(`The unit is in ${visible(path)}.\n\n${advice}`);
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
  const args = SERVE_OPTIONS.flatMap((spec) => optionWords(spec, given.get(spec.name)));
  const { data, port, appsPort, shutdownTimeout } = parseServeOptions(args, {});
  for (const word of [...edition.command, ...args]) assertFits(word);
  const folders = SERVE_OPTIONS
    .filter(({ name, value }) => name !== "data" && value === "DIR")
    .flatMap(({ name }) => given.get(name) ?? []);
  for (const folder of [data, ...folders]) assertLasts(folder);
  const hasLowPort = [port, appsPort].some((one) =>
    typeof one === "number" && one > 0 && one < FIRST_FREE_PORT
  );
  return { edition, user, data, folders, args, hasLowPort, shutdownTimeout };
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot write the unit: ${reason}`, { cause: error });
  }
}
