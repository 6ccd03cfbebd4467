/**
 * Starts with nothing in the cache of Deno, as the first one on a machine. Needs the registry of npm.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path/join";
import { cp } from "node:fs/promises";
import { print } from "./package/command_line.ts";
import { filesBelow, ROOT } from "./package/parts.ts";

/** How often. Starts that bundled side by side failed in one of four. */
const STARTS = 5;

/** What the first start may load, in bytes: 150 MB, of which npm takes 40 MB for Deno itself. */
const MAX_LOADED = 110e6;

/** How long one process may take, in milliseconds. */
const TIME_LIMIT = 300_000;

/** A small package. */
const PROBE = "npm:pend@1.2.0";

/** Names of packages that only tests need. */
const ONLY_FOR_TESTS = /^(@aws-sdk|@redocly|@seriousme|axe-core|deta|playwright-core|typescript)$/;

class Folder implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(): Promise<Folder> {
    // On a disk: the server may not use folders below /dev.
    const dir = Deno.env.get("KVDRIVE_TEST_DISK");
    return new Folder(
      await Deno.makeTempDir({ prefix: "kvdrive-cold-", ...(dir === undefined ? {} : { dir }) }),
    );
  }

  at(name: string): string {
    return join(this.path, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

const offline = await whyOffline();
if (offline !== undefined) print(`Cold starts are not tested: ${offline}\n`);

Deno.test({
  name: `${STARTS} starts of the server with nothing cached succeed, and load little`,
  ignore: offline !== undefined,
  async fn(t) {
    await using folder = await Folder.make();
    const first = folder.at("cache 1");
    await t.step("The first start of a machine", async () => {
      await startServer(first, folder.at("data 1"));
    });
    await t.step("It loads nothing that only tests need, and no more than it may", async () => {
      const registries = (await namesIn(join(first, "npm"))).map((it) => join(first, "npm", it));
      const packages = (await Promise.all(registries.map(namesIn))).flat();
      assert(packages.includes("tldts"), packages.join());
      assertEquals(packages.filter((name) => ONLY_FOR_TESTS.test(name)), []);
      const size = await sizeOf(first);
      print(`${Math.round(size / 1e6)} MB in the cache after the first start\n`);
      assert(size <= MAX_LOADED, `${size} bytes`);
    });
    for (let i = 2; i <= STARTS; i++) {
      await t.step(`Start ${i}`, async () => {
        const cache = await emptied(first, folder.at(`cache ${i}`));
        await startServer(cache, folder.at(`data ${i}`));
        await Deno.remove(cache, { recursive: true });
      });
    }
    // Each file has its checksum beside it; the server and its client are packages of their own.
    for (const [maker, files] of [["npm", 4], ["pack", 2]] as const) {
      await t.step(`deno task ${maker}`, async () => {
        const cache = await emptied(first, folder.at(`cache ${maker}`));
        const out = folder.at(maker);
        const { success, stderr } = await deno(cache, ["task", maker, "--out", out]).output();
        assert(success, new TextDecoder().decode(stderr));
        assertEquals((await namesIn(out)).length, files);
      });
    }
  },
});

/** A cache with the packages that another one has loaded, but nothing of the bundler or of compiled code. */
async function emptied(from: string, to: string): Promise<string> {
  await Deno.mkdir(to);
  await cp(join(from, "npm"), join(to, "npm"), {
    recursive: true,
    filter: (path: string) => !path.includes("@esbuild"),
  });
  return to;
}

/** Starts the server with the command of the README, and ends it when it is ready. */
async function startServer(cache: string, data: string): Promise<void> {
  const process = deno(cache, ["task", "start", "--port", "0", "--data", data]);
  const stderr = new Response(process.stderr).text();
  let text = "";
  let isStopped = false;
  for await (const piece of process.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (isStopped || !/^kvdrive listening on http/m.test(text)) continue;
    process.kill("SIGTERM");
    isStopped = true;
  }
  const { code } = await process.status;
  const output = `${text}${await stderr}`;
  assertMatch(text, /^kvdrive listening on http/m, output);
  assertEquals(code, 0, output);
}

function deno(cache: string, args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { DENO_DIR: cache, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(TIME_LIMIT),
  }).spawn();
}

/** Why there is no registry to load packages from, if there is none. */
async function whyOffline(): Promise<string | undefined> {
  await using folder = await Folder.make();
  const { success, stderr } = await deno(folder.path, ["cache", "--no-config", PROBE]).output();
  return success ? undefined : new TextDecoder().decode(stderr).trim().split("\n").at(-1);
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}

async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const path of await filesBelow(folder, ".")) {
    size += (await Deno.stat(join(folder, path))).size;
  }
  return size;
}
