import { assertEquals } from "@std/assert";
import { ADMIN_TOKEN, ADMINISTERED } from "../admin.ts";
import { type CommandResult, Folder, runCommand } from "../command.ts";
import { PROJECT_KEY, TestServer } from "../server.ts";
import { RunningCommand } from "./client.ts";

/** A server with an administrator, and a user whose commands find no settings but a folder for profiles. */
export class ProfileDesk implements AsyncDisposable {
  private constructor(readonly server: TestServer, readonly folder: Folder) {}

  static async open(): Promise<ProfileDesk> {
    return new ProfileDesk(await TestServer.start(ADMINISTERED), await Folder.make());
  }

  /** The file of the profiles. */
  get file(): string {
    return this.folder.at("config/kvdrive/profiles.json");
  }

  get env(): Record<string, string> {
    return {
      XDG_CONFIG_HOME: this.folder.at("config"),
      XDG_STATE_HOME: this.folder.at("state"),
      // Commands that do not ask the server find no store.
      KVDRIVE_DATA: this.folder.at("nostore"),
    };
  }

  async run(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
    return await runCommand(args, { ...this.env, ...env });
  }

  /** Runs a command with this on standard input. */
  async runWith(
    input: string,
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<CommandResult> {
    const bytes = new TextEncoder().encode(input);
    const all = { ...this.env, ...env };
    return await new RunningCommand(args, all, this.folder.path, bytes).finished();
  }

  /** Runs a command that has to succeed without a message. @returns its standard output. */
  async text(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    assertEquals([code, stderr], [0, ""], args.join(" "));
    return stdout;
  }

  /** The same with `--json`, on one line. */
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.text(...args, "--json")) as T;
  }

  /** Logs in as the administrator, or with another secret. */
  async login(secret: string = ADMIN_TOKEN, ...args: string[]): Promise<string> {
    const run = await this.runWith(`${secret}\n`, ["login", this.server.origin, ...args]);
    assertEquals([run.code, run.stderr], [0, ""]);
    return run.stdout;
  }

  /** Logs in with the project key that the server was started with. */
  async loginToProject(...args: string[]): Promise<string> {
    return await this.login(PROJECT_KEY, ...args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}
