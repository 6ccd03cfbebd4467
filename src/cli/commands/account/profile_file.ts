import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { type Credentials, keyCredentials, tokenCredentials } from "../../../client/connection.ts";
import { replacePrivateFile } from "../../../client/local_files.ts";
import { failureReason } from "../../../rules/system_error.ts";
import { CommandError, type Environment, UsageError } from "../../terminal/output.ts";
import { quoteWord } from "../../terminal/text.ts";

/** A server, and what opens it. */
export interface Profile {
  url: string;
  /** Either this or `admin_token`. */
  project_key?: string;
  admin_token?: string;
  /** The file with certificates of further authorities to trust. */
  cacert?: string;
}

export interface Profiles {
  /** The name of the profile that commands use. */
  current: string | undefined;
  profiles: ReadonlyMap<string, Profile>;
}

/** The name of a profile, unless another one is given. */
export const DEFAULT_PROFILE = "default";

/** Only the owner can read the file, which has secrets. */
const MODE = 0o600;

/** The file of profiles: JSON that is replaced as a whole. */
export class ProfileFile {
  readonly #path: string | undefined;

  constructor(env: Environment, system: typeof Deno.build.os = Deno.build.os) {
    this.#path = profilePath(env, system);
  }

  /** The path for messages. */
  get path(): string {
    return this.#path ?? "(none: HOME is not set)";
  }

  /** Reads the profiles; none if there is no file. @throws {CommandError} if it cannot be read, or others could read it. */
  async read(): Promise<Profiles> {
    const none = { current: undefined, profiles: new Map() };
    if (this.#path === undefined) return none;
    try {
      const { mode } = await Deno.stat(this.#path);
      if (mode !== null && (mode & 0o077) !== 0) {
        throw new CommandError(
          `Other users can read the file of profiles ${this.path}, which has secrets: run chmod 600 on it`,
        );
      }
      return parseProfiles(await Deno.readTextFile(this.#path), this.path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return none;
      throw this.#cannot("read", error);
    }
  }

  /**
   * Changes the profiles. Changes by several processes follow each other.
   *
   * @param change Returns the new profiles.
   */
  async update(change: (profiles: Profiles) => Profiles): Promise<void> {
    if (this.#path === undefined) {
      throw new CommandError("There is no place for profiles: set HOME or XDG_CONFIG_HOME");
    }
    try {
      await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      using lock = await Deno.open(`${this.#path}.lock`, { create: true, write: true, mode: MODE });
      await lock.lock(true);
      await this.#replace(change(await this.read()));
    } catch (error) {
      throw this.#cannot("write", error);
    }
  }

  async #replace({ current, profiles }: Profiles): Promise<void> {
    const named = this.#path ?? "";
    // A link to the file elsewhere stays one.
    const path = await Deno.realPath(named).catch(() => named);
    const all = {
      ...(current !== undefined && { current }),
      profiles: Object.fromEntries(profiles),
    };
    await replacePrivateFile(path, `${JSON.stringify(all, null, 2)}\n`);
  }

  #cannot(action: string, error: unknown): CommandError {
    if (error instanceof CommandError) return error;
    const reason = failureReason(error);
    const message = `Cannot ${action} the file of profiles ${this.path}: ${reason}`;
    return new CommandError(message, { cause: error });
  }
}

/** Returns the path of the file on an operating system; `undefined` if the environment does not say. */
export function profilePath(env: Environment, system: typeof Deno.build.os): string | undefined {
  const home = env["HOME"] || undefined;
  const base = env["XDG_CONFIG_HOME"] ||
    (system === "windows" ? env["APPDATA"] || undefined : home && join(home, ".config"));
  return base && join(base, "kvdrive", "profiles.json");
}

/** @throws {UsageError} if a text cannot be the name of a profile. */
export function requireProfileName(name: string): void {
  if (/^[\w.-]{1,64}$/.test(name)) return;
  throw new UsageError(
    `Bad name of a profile ${quoteWord(name)}: it must be 1 to 64 of A-Z a-z 0-9 . _ -`,
  );
}

/** Returns a profile. @throws {CommandError} if there is none with this name. */
export function requireProfile({ profiles }: Profiles, name: string): Profile {
  const profile = profiles.get(name);
  if (profile !== undefined) return profile;
  throw new CommandError(`There is no profile ${quoteWord(name)}: see kvdrive profile list`);
}

export function credentialsOf({ project_key, admin_token }: Profile): Credentials | undefined {
  return project_key === undefined
    ? tokenCredentials(admin_token ?? "")
    : keyCredentials(project_key);
}

function parseProfiles(text: string, path: string): Profiles {
  try {
    const { current, profiles } = JSON.parse(text) as { current?: unknown; profiles?: unknown };
    const entries = Object.entries(profiles ?? {}).map(([name, one]) => [name, one] as const);
    if (!entries.every((entry): entry is [string, Profile] => isProfile(entry[1]))) {
      throw new TypeError("A profile lacks its address or its secret");
    }
    return {
      current: typeof current === "string" ? current : undefined,
      profiles: new Map(entries),
    };
  } catch (error) {
    // The message of the runtime would repeat a part of the text.
    throw new CommandError(
      `The file of profiles ${path} is damaged: correct it, or remove it and log in again`,
      { cause: error },
    );
  }
}

function isProfile(value: unknown): value is Profile {
  if (typeof value !== "object" || value === null) return false;
  const { url, project_key, admin_token, cacert } = value as Record<string, unknown>;
  const isTextOrNone = (one: unknown) => one === undefined || typeof one === "string";
  return typeof url === "string" && [project_key, admin_token, cacert].every(isTextOrNone) &&
    (project_key === undefined) !== (admin_token === undefined);
}
