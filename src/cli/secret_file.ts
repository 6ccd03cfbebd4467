import { failureReason } from "../drive/reason.ts";
import { CommandError } from "./usage_error.ts";

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
  static async make(path: string): Promise<SecretFile> {
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
