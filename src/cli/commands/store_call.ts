import { resolve } from "@std/path/resolve";
import type { S3SecretKey } from "../../store/accounts/s3_secrets.ts";
import type { Store } from "../../store/store.ts";
import { OptionValues } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import { s3SecretKeyOf } from "../options/s3_secret.ts";
import { kvOf } from "../options/serve_options.ts";
import { type Environment, printError, UsageError } from "../terminal/output.ts";
import { TaskProgress } from "../terminal/task_progress.ts";
import { printable } from "../terminal/text.ts";
import { type CallSettings, CommandCall } from "./command_call.ts";
import { hasStore, noStore, withStore } from "./local_store.ts";

/** The call of a command that opens the store. */
export class StoreCall extends CommandCall {
  /** The options, each of which may be an environment variable. */
  readonly values: OptionValues;
  readonly data: string;
  /** The URL of a shared store, in place of the folder. */
  readonly kv: string | undefined;

  /** @throws {UsageError} if it has to ask for confirmation, and there is no terminal. */
  constructor(
    args: Arguments,
    env: Environment,
    private readonly settings: CallSettings,
  ) {
    super(args, env, settings);
    this.values = new OptionValues([], args.options, env);
    this.data = this.values.text("data") ?? "./data";
    this.kv = kvOf(this.values);
  }

  /** The URL of the store, or its folder as an absolute path. */
  get place(): string {
    return this.kv ?? resolve(this.data);
  }

  /** What encrypts the secrets of S3 keys. @throws {UsageError} if the environment's secret is invalid. */
  get s3SecretKey(): S3SecretKey {
    const s3SecretFile = this.values.text("s3-secret-file");
    return s3SecretKeyOf({ s3SecretFile, data: this.data, kv: this.kv }, this.env);
  }

  /** Opens the store for `work`. @throws {CommandError} if there is none, unless the command creates it. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    // A shared store exists, or cannot be opened.
    if (this.kv !== undefined) return await withStore(this, work);
    const isNew = !await hasStore(this.data);
    if (isNew && !this.settings.makesStore) throw noStore(this.data);
    const result = await withStore(this, work);
    if (isNew) printError(`Created a new store in ${printable(this.data)}.\n`);
    return result;
  }

  /** @throws {UsageError} for a shared store, whose file is on another machine. */
  requireFolder(): void {
    if (this.kv === undefined) return;
    throw new UsageError(
      "This command needs the file of the store: give its folder with --data. For a shared store, use the tools of its server",
    );
  }

  /** @throws {CommandError} if there is no store in the folder. */
  async requireStore(): Promise<void> {
    this.requireFolder();
    if (!await hasStore(this.data)) throw noStore(this.data);
  }

  /** Starts a progress bar. @param cleanUp Called before a signal ends the program. */
  taskProgress(cleanUp: () => void): TaskProgress {
    return new TaskProgress(this.env, cleanUp);
  }
}
