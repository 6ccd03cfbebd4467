import { dirname } from "@std/path/dirname";
import { replacePrivateFile, writeAll } from "../../client/local_files.ts";
import { failureReason } from "../../rules/system_error.ts";
import { CommandError } from "../terminal/output.ts";

/** Only the owner can read the file. */
const MODE = 0o600;

/** A new file for one secret. It is created before the secret, which then has a place for certain. */
export class SecretFile implements Disposable {
  private constructor(
    private readonly path: string,
    private readonly file: Deno.FsFile,
  ) {}

  /** Creates the file. @throws {CommandError} if it exists, or cannot be created. */
  static async create(path: string): Promise<SecretFile> {
    // With restricted permissions the runtime drops a trailing "/", and would create another file.
    if (path.endsWith("/")) {
      throw new CommandError(`Cannot create the file ${path}: it is a folder`);
    }
    try {
      const options = { write: true, createNew: true, mode: MODE };
      return new SecretFile(path, await Deno.open(path, options));
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) {
        throw new CommandError(`The file ${path} exists: choose another name`);
      }
      throw cannot("create", path, error);
    }
  }

  /** Writes the secret and a newline, and syncs the file. @throws {CommandError} if that fails. */
  async write(secret: string): Promise<void> {
    try {
      await writeAll(this.file, new TextEncoder().encode(`${secret}\n`));
      await this.file.sync();
    } catch (error) {
      throw cannot("write", this.path, error);
    }
  }

  /** Removes the file; does nothing if it was removed. */
  async discard(): Promise<void> {
    try {
      await Deno.remove(this.path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw cannot("remove", this.path, error);
    }
  }

  [Symbol.dispose](): void {
    this.file.close();
  }
}

/**
 * Adds secrets to a file that systemd reads as `EnvironmentFile=`. Other lines are kept, and the file is replaced
 * atomically.
 *
 * @param secrets By the names of their variables.
 * @param isForced Whether existing values of the same variables are replaced.
 * @throws {CommandError} if others can read the file, it has another value, or it cannot be written.
 */
export async function writeSecrets(
  path: string,
  secrets: ReadonlyMap<string, string>,
  isForced: boolean,
): Promise<void> {
  const before = await envFileLines(path);
  const isReplaced = (line: string) => secrets.has(nameIn(line));
  const lines = [...secrets].map(([name, value]) => `${name}=${systemdQuoted(value)}`);
  const others = before.filter(isReplaced).filter((line) => !lines.includes(line));
  if (others.length > 0 && !isForced) {
    const names = others.map(nameIn).join(", ");
    throw new CommandError(`The file ${path} has another value of ${names}: --force replaces it`);
  }
  const kept = before.filter((line) => !isReplaced(line));
  try {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await replacePrivateFile(path, [...kept, ...lines].map((line) => `${line}\n`).join(""));
  } catch (error) {
    throw cannot("write", path, error);
  }
}

/** Returns the lines of the file; none if it does not exist. */
async function envFileLines(path: string): Promise<string[]> {
  try {
    const { isFile, mode } = await Deno.lstat(path);
    if (!isFile) {
      throw new CommandError(`${path} is not a regular file: choose another with --env-file`);
    }
    if (mode !== null && (mode & 0o077) !== 0) {
      throw new CommandError(
        `Other users can read the file ${path}, which is for secrets: run chmod 600 on it, or choose another with --env-file`,
      );
    }
    const text = await Deno.readTextFile(path);
    return text.replace(/\n$/, "").split("\n").filter((line, _, all) =>
      all.length > 1 || line !== ""
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw cannot("read", path, error);
  }
}

/** Returns the variable that a line sets; "" if it sets none. */
function nameIn(line: string): string {
  return /^\s*([A-Za-z_][A-Za-z0-9_]*)=/.exec(line)?.[1] ?? "";
}

/** Quotes a value for systemd, which needs a backslash before these characters. */
function systemdQuoted(value: string): string {
  return `"${value.replaceAll(/["\\`$]/g, "\\$&")}"`;
}

function cannot(action: string, path: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const reason = failureReason(error);
  return new CommandError(`Cannot ${action} the file ${path}: ${reason}`, { cause: error });
}
