import { dirname } from "@std/path";
import { failureReason } from "../drive/reason.ts";
import { CommandError } from "./usage_error.ts";

/** Only the owner reads the file. */
const MODE = 0o600;

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
  const before = await linesOf(path);
  const isOfOurs = (line: string) => secrets.has(nameIn(line));
  const lines = [...secrets].map(([name, value]) => `${name}=${quoted(value)}`);
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
    throw cannot("write", path, error);
  }
}

/** The lines of the file, none where there is no file. */
async function linesOf(path: string): Promise<string[]> {
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
    throw cannot("read", path, error);
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID()}`;
  try {
    {
      using file = await Deno.open(fresh, { write: true, createNew: true, mode: MODE });
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
function quoted(value: string): string {
  return `"${value.replaceAll(/["\\`$]/g, "\\$&")}"`;
}

function cannot(what: string, path: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const reason = failureReason(error);
  return new CommandError(`Cannot ${what} the file ${path}: ${reason}`, { cause: error });
}
