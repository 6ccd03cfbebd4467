import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { packFile } from "./pack_file.ts";

/** Takes the runtime's place: prints its arguments and runs the commands in the variable TEST_DO. */
const RUNTIME = `#!/bin/sh
[ "$1" != --version ] || exit "\${TEST_VERSION_STATUS:-0}"
while [ "$1" != "\${1%main.ts}main.ts" ]; do shift; done
for word in "$@"; do printf '[%s]' "\${word##*/app/}"; done
printf ' %s %s\\n' "$(umask)" "$KVDRIVE_PACKED"
eval "\${TEST_DO:-}"
`;

/** What the head calls besides what tells checksums. */
const TOOLS = [
  "sh",
  "ls",
  "id",
  "tail",
  "gzip",
  "tar",
  "mkdir",
  "mv",
  "rm",
  "uname",
  "find",
  "touch",
];

/** What it calls where nothing but openssl tells checksums. */
const OPENSSL_TOOLS = ["cut", "xargs", "sed", "cmp"];

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A packed file with a small runtime in it, in a folder of its own that has a place for caches too. */
export class TestPack implements AsyncDisposable {
  private constructor(readonly folder: string, readonly path: string) {}

  static async make(name = "kvdrive-packed"): Promise<TestPack> {
    const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
    const inside = join(folder, "inside");
    await Deno.mkdir(join(inside, "app"), { recursive: true });
    await Deno.writeTextFile(join(inside, "deno"), RUNTIME, { mode: 0o755 });
    await Deno.writeTextFile(join(inside, "app/main.ts"), "");
    const path = join(folder, name);
    await Deno.mkdir(dirname(path), { recursive: true });
    await packFile(inside, path, "1.2.3");
    await Deno.remove(inside, { recursive: true });
    return new TestPack(folder, path);
  }

  /** Where it unpacks to unless told otherwise. */
  get cache(): string {
    return join(this.folder, "cache");
  }

  start(
    args: string[] = [],
    env: Record<string, string> = {},
    words: [string, ...string[]] = [this.path],
  ): Deno.ChildProcess {
    const [program, ...first] = words;
    return new Deno.Command(program, {
      args: [...first, ...args],
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", KVDRIVE_RUNTIME_DIR: this.cache, ...env },
      cwd: this.folder,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  async run(...how: Parameters<TestPack["start"]>): Promise<Ended> {
    return await ended(this.start(...how));
  }

  /** What lies in the cache. */
  async entries(cache = this.cache): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of Deno.readDir(cache)) names.push(name);
    return names.toSorted();
  }

  /** A folder with just the tools that the head needs, one that tells checksums, and scripts in the place of others. */
  async tools(checksum: string, scripts: Record<string, string> = {}): Promise<string> {
    const folder = await Deno.makeTempDir({ dir: this.folder });
    for (
      const tool of [...TOOLS, ...OPENSSL_TOOLS, "sync", checksum].filter((one) => !scripts[one])
    ) {
      const found = await findTool(tool);
      const link = join(folder, tool);
      if (found !== undefined) await Deno.symlink(found, link).catch(ignoreExisting);
    }
    for (const [name, text] of Object.entries(scripts)) {
      await Deno.writeTextFile(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

export async function ended(process: Deno.ChildProcess): Promise<Ended> {
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Where a program of this machine lies; `undefined` where it has none of that name. */
export async function findTool(name: string): Promise<string | undefined> {
  const command = new Deno.Command("sh", { args: ["-c", `command -v "$1"`, "sh", name] });
  const { stdout } = await command.output();
  return new TextDecoder().decode(stdout).trim() || undefined;
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
}
