import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path/join";
import config from "../deno.json" with { type: "json" };
import { makePackage } from "./npm.ts";
import { installGlobally } from "./package/npm_prefix.ts";
import { filesBelow } from "./package/parts.ts";

/** Runs without a network, where this machine lets us take it away. */
const offline = await canDropNetwork()
  ? ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up; exec "$0" "$@"']
  : [];

const READY = /^kvdrive listening on http\S+$/m;

/** The package in a folder with a name that needs quoting, inside a project that has settings of its own. */
class Installed implements AsyncDisposable {
  private constructor(readonly folder: string, readonly program: string) {}

  static async make(): Promise<Installed> {
    // The package has the permissions of users, with which Deno does not read below /dev.
    const dir = Deno.env.get("KVDRIVE_TEST_DISK");
    const options = { prefix: "kvdrive-npm-", ...(dir === undefined ? {} : { dir }) };
    const folder = await Deno.realPath(await Deno.makeTempDir(options));
    const prefix = join(folder, "my prefix");
    await Deno.mkdir(prefix);
    for (const place of [folder, prefix]) {
      await Deno.writeTextFile(
        join(place, "deno.json"),
        '{ "imports": { "@std/path": "./no.ts" } }',
      );
      const settings = { workspaces: ["*"], dependencies: { "@std/path": "1" } };
      await Deno.writeTextFile(join(place, "package.json"), JSON.stringify(settings));
    }
    const file = await makePackage(join(folder, "dist"));
    return new Installed(folder, await installGlobally(file, prefix));
  }

  /** Starts it with no settings but these, with an empty cache unless one is named. */
  start(args: string[], env: Record<string, string> = {}): Deno.ChildProcess {
    const [program = "", ...words] = [...offline, this.program, ...args];
    const own = {
      HOME: join(this.folder, "home"),
      PATH: Deno.env.get("PATH") ?? "",
      NO_COLOR: "1",
    };
    return new Deno.Command(program, {
      args: words,
      cwd: this.folder,
      clearEnv: true,
      env: { ...own, ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  async run(args: string[], env?: Record<string, string>): Promise<[number, string, string]> {
    const { code, stdout, stderr } = await this.start(args, env).output();
    const decoder = new TextDecoder();
    return [code, decoder.decode(stdout), decoder.decode(stderr)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("The installed package works in any folder, without a network or a home folder", async (t) => {
  await using installed = await Installed.make();
  await t.step("It prints its version", async () => {
    const said = `kvdrive ${config.version} (from source, deno ${Deno.version.deno})\n`;
    assertEquals(await installed.run(["version"]), [0, said, ""]);
    assertEquals(await installed.run(["version"], { HOME: "/nonexistent" }), [0, said, ""]);
  });
  await t.step("It passes the exit status on", async () => {
    const [code, stdout, stderr] = await installed.run(["nothing"]);
    assertEquals([code, stdout], [2, ""]);
    assertMatch(stderr, /^kvdrive: Unknown command [^\n]+\n$/);
  });
  await t.step("A unit starts the launcher, wherever the link to it is", async () => {
    const [code, unit] = await installed.run(["install"]);
    assertEquals(code, 0);
    const launcher = join(installed.folder, "my prefix/lib/node_modules/kvdrive/bin/kvdrive");
    assertStringIncludes(unit, `ExecStart=:"${launcher}" serve`);
  });
  await t.step(
    "A server serves the dashboard, has relative paths and stops on signals",
    async () => {
      for (const [signal, status] of [["SIGTERM", 0], ["SIGINT", 0], ["SIGHUP", 129]] as const) {
        assertEquals(await serveOnce(installed, signal), status, signal);
      }
      assert(await Deno.stat(join(installed.folder, "data/kvdrive.db")));
    },
  );
  await t.step(
    "It has no tests, no sources of the dashboard, and no package but the runtime",
    async () => {
      const folder = join(installed.folder, "my prefix/lib/node_modules/kvdrive");
      const files = await filesBelow(folder, ".");
      for (const path of ["LICENSE", "vendor/LICENSES.txt", "src/dashboard/dist/index.html"]) {
        assert(files.includes(`./${path}`), path);
      }
      const other =
        /_test\.ts$|test_support|\/testing\/|^\.\/(tests|scripts|docs)\/|dashboard\/core/;
      assertEquals(files.filter((path) => other.test(path)), []);
      const packages = files.flatMap((path) =>
        /^\.\/node_modules\/([^.][^/]*)/.exec(path)?.[1] ?? []
      );
      assertEquals([...new Set(packages)], ["@deno", "deno"]);
    },
  );
});

/** Starts a server on the folder `data`, and ends it with a signal once it is ready. @returns its exit status. */
async function serveOnce(installed: Installed, signal: Deno.Signal): Promise<number> {
  const process = installed.start(["serve", "--port", "0", "--apps-port", "0", "--data", "data"]);
  const errors = new Response(process.stderr).text();
  let text = "";
  let isStopped = false;
  for await (const piece of process.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (isStopped || !READY.test(text)) continue;
    isStopped = true;
    process.kill(signal);
  }
  const { code } = await process.status;
  assert(isStopped, `${text}${await errors}`);
  await errors;
  return code;
}

async function canDropNetwork(): Promise<boolean> {
  try {
    const args = ["--map-root-user", "--net", "sh", "-c", "ip link set lo up"];
    return (await new Deno.Command("unshare", { args }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
