import { dirname } from "@std/path";
import { failureReason } from "../../rules/system_error.ts";
import { CommandError } from "../terminal/errors.ts";

/** Nobody else on the machine reads it. */
const MODE = 0o600;

/** A file made to hold one secret. It is there before the secret is, which is then sure to find its place. */
export class SecretFile implements Disposable {
  readonly #path: string;
  readonly #file: Deno.FsFile;

  private constructor(path: string, file: Deno.FsFile) {
    this.#path = path;
    this.#file = file;
  }

  /** @throws {CommandError} where there is something of that name already, or no file can be made. */
  static async create(path: string): Promise<SecretFile> {
    // With some permissions the runtime takes the "/" away, and another file would be made.
    if (path.endsWith("/")) throw new CommandError(`Cannot make the file ${path}: it is a folder`);
    try {
      const options = { write: true, createNew: true, mode: MODE };
      return new SecretFile(path, await Deno.open(path, options));
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) {
        throw new CommandError(`There is a file ${path} already: name one that is not there`);
      }
      throw cannot("make", path, error);
    }
  }

  /** Writes the secret and a newline, down to the disk. @throws {CommandError} where that fails. */
  async write(secret: string): Promise<void> {
    try {
      const bytes = new TextEncoder().encode(`${secret}\n`);
      // A file takes all of so few bytes, or none.
      const written = await this.#file.write(bytes);
      if (written < bytes.byteLength) throw new Error("it takes no more");
      await this.#file.sync();
    } catch (error) {
      throw cannot("write", this.#path, error);
    }
  }

  /** Removes it again, if nobody else did. */
  async discard(): Promise<void> {
    try {
      await Deno.remove(this.#path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw cannot("remove", this.#path, error);
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

function cannot(what: string, path: string, error: unknown): CommandError {
  const reason = failureReason(error);
  return new CommandError(`Cannot ${what} the file ${path}: ${reason}`, { cause: error });
}

/** Only the owner reads the file. */
const ENV_FILE_MODE = 0o600;

/**
 * Puts secrets into a file that systemd reads as `EnvironmentFile=`. Its other lines stay. The file has its mode from the
 * moment that it is made, and is replaced as a whole.
 *
 * @param secrets By the names of their variables.
 * @param isForced Whether other values of the same variables are replaced.
 * @throws {CommandError} where others can read the file, it has another value, or it cannot be written.
 */
export async function writeSecrets(
  path: string,
  secrets: ReadonlyMap<string, string>,
  isForced: boolean,
): Promise<void> {
  const before = await envFileLines(path);
  const isOfOurs = (line: string) => secrets.has(nameIn(line));
  const lines = [...secrets].map(([name, value]) => `${name}=${systemdQuoted(value)}`);
  const others = before.filter(isOfOurs).filter((line) => !lines.includes(line));
  if (others.length > 0 && !isForced) {
    const names = others.map(nameIn).join(", ");
    throw new CommandError(`The file ${path} has another ${names} already: --force replaces it`);
  }
  const kept = before.filter((line) => !isOfOurs(line));
  try {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await replaceFile(path, [...kept, ...lines].map((line) => `${line}\n`).join(""));
  } catch (error) {
    throw envFileError("write", path, error);
  }
}

/** The lines of the file, none where there is no file. */
async function envFileLines(path: string): Promise<string[]> {
  try {
    const { isFile, mode } = await Deno.lstat(path);
    if (!isFile) throw new CommandError(`${path} is no plain file: name another with --env-file`);
    if (mode !== null && (mode & 0o077) !== 0) {
      throw new CommandError(
        `Others may read the file ${path}, which is for secrets: take that right from them (chmod 600), or name another with --env-file`,
      );
    }
    const text = await Deno.readTextFile(path);
    return text.replace(/\n$/, "").split("\n").filter((line, _, all) =>
      all.length > 1 || line !== ""
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw envFileError("read", path, error);
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID()}`;
  try {
    {
      using file = await Deno.open(fresh, { write: true, createNew: true, mode: ENV_FILE_MODE });
      const bytes = new TextEncoder().encode(text);
      for (let rest = bytes; rest.byteLength > 0;) rest = rest.subarray(await file.write(rest));
      await file.sync();
    }
    await Deno.rename(fresh, path);
  } catch (error) {
    await Deno.remove(fresh).catch(() => {});
    throw error;
  }
}

/** The variable of a line; "" where it sets none. */
function nameIn(line: string): string {
  return /^\s*([A-Za-z_][A-Za-z0-9_]*)=/.exec(line)?.[1] ?? "";
}

/** A value as systemd reads it: between double quotes a backslash makes these characters plain. */
function systemdQuoted(value: string): string {
  return `"${value.replaceAll(/["\\`$]/g, "\\$&")}"`;
}

function envFileError(what: string, path: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const reason = failureReason(error);
  return new CommandError(`Cannot ${what} the file ${path}: ${reason}`, { cause: error });
}
