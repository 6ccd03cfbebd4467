import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertRefused, type CommandResult, Folder, runCommand } from "../command.ts";
import type { TestServer } from "../server.ts";
import { denokvProgram } from "./denokv.ts";

/** How soon a server has to know what another process took back, and what a slow machine may need beside. */
const KNOWN_WITHIN = 5000;
/** How soon a server removes what another process deleted. A shared store is searched for it less often. */
export const REMOVED_WITHIN = denokvProgram() === undefined ? KNOWN_WITHIN : 15_000;
/** How soon counters follow when files have expired, in milliseconds. */
export const COUNTED_WITHIN = denokvProgram() === undefined ? 15_000 : 60_000;
const SLOWNESS = 10_000;

/** `<project id>_<secret>`, of which an id comes first in its own right. */
export const PROJECT_KEY = /^([a-z0-9-]{1,64})_[A-Za-z0-9]{32}$/;
export const API_KEY = /^([A-Za-z0-9]{8})\.[A-Za-z0-9]{32}$/;
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The commands that work on the store of one folder. */
export class StoreCommands {
  constructor(readonly data: string) {}

  async run(...args: string[]): Promise<CommandResult> {
    return await runCommand([...args, "--data", this.data]);
  }

  /** Runs a command that has to succeed and print nothing on standard error. @returns its standard output. */
  async text(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    assertEquals([code, stderr], [0, ""], args.join(" "));
    return stdout;
  }

  /** The same with `--json`, on one line. */
  async json<T>(...args: string[]): Promise<T> {
    const text = await this.text(...args, "--json");
    assertEquals(text.indexOf("\n"), text.length - 1, text);
    return JSON.parse(text) as T;
  }

  /** The rows of a table without its headings, each as its cells. */
  async rows(...args: string[]): Promise<string[][]> {
    const [headings = "", ...lines] = (await this.text(...args)).trimEnd().split("\n");
    assert(/^[A-Z ]+$/.test(headings), headings);
    return lines.map((line) => line.split(/ {2,}/));
  }

  /** Fails unless the command is refused in one sentence that matches and begins with the program's name. */
  async refused(code: number, says: RegExp, ...args: string[]): Promise<void> {
    const run = await this.run(...args);
    assertRefused(run, code, says);
    assert(run.stderr.startsWith("kvdrive: "), run.stderr);
  }
}

/** A store in a folder of its own, with the project `shop` in it. `await using` removes it. */
export class ShopStore extends StoreCommands implements AsyncDisposable {
  private constructor(readonly folder: Folder, readonly key: string) {
    super(folder.at("data"));
  }

  static async make(folder?: Folder): Promise<ShopStore> {
    folder ??= await Folder.make();
    const args = ["project", "create", "--id", "shop", "--data", folder.at("data"), "--json"];
    const { stdout } = await runCommand(args);
    return new ShopStore(folder, (JSON.parse(stdout) as { project_key: string }).project_key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.folder[Symbol.asyncDispose]();
  }
}

/** Returns how a server answers a request for the usage of a project, made with its key. */
export async function statusWith(server: TestServer, key: string): Promise<number> {
  const project = key.slice(0, key.indexOf("_"));
  const answer = await fetch(`${server.origin}/v1/${project}`, { headers: { "X-Api-Key": key } });
  await answer.body?.cancel();
  return answer.status;
}

/** Waits until a running server knows what was changed; fails where that takes too long. */
export async function waitUntilKnown(
  isKnown: () => Promise<boolean>,
  within = KNOWN_WITHIN,
): Promise<void> {
  const end = Date.now() + within + SLOWNESS;
  while (!await isKnown()) {
    assert(Date.now() < end, "The server still does not know it");
    await delay(50);
  }
}
