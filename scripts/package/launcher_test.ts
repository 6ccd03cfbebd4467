import { assert, assertEquals, assertMatch } from "@std/assert";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import config from "../../deno.json" with { type: "json" };
import { RUNTIME_OPTIONS } from "../../src/version.ts";
import { packageJson, writeLauncher } from "./npm_package.ts";

/** Stands for the runtime: prints its variables and arguments, and does what a test says. */
const RUNTIME = `#!/bin/sh
printf '%s %s\\n' "$$" "$KVDRIVE_LAUNCHER"
printf '[%s]' "$@"
eval "\${TEST_DO:-}"
`;

/** Where installers put the three packages. */
const LAYOUTS: Record<string, { program: string; deno: string; runtime: string; link?: string }> = {
  "npm install --global": {
    program: "lib/node_modules/kvdrive",
    deno: "lib/node_modules/kvdrive/node_modules/deno",
    runtime: "lib/node_modules/kvdrive/node_modules/@deno/linux",
  },
  "npm install": {
    program: "node_modules/kvdrive",
    deno: "node_modules/deno",
    runtime: "node_modules/@deno/linux",
  },
  "pnpm add": {
    program: "node_modules/.pnpm/kvdrive@1/node_modules/kvdrive",
    deno: "node_modules/.pnpm/deno@2/node_modules/deno",
    runtime: "node_modules/.pnpm/deno@2/node_modules/@deno/linux",
    link: "node_modules/.pnpm/kvdrive@1/node_modules/deno",
  },
};

class Installation implements AsyncDisposable {
  private constructor(readonly folder: string, readonly program: string) {}

  static async make(layout = "npm install --global"): Promise<Installation> {
    const { program, deno, runtime, link } = LAYOUTS[layout]!;
    const temporary = await Deno.realPath(await Deno.makeTempDir({ prefix: "kvdrive-test-" }));
    const folder = join(temporary, "my 'files' $HOME");
    for (const path of [`${program}/bin`, deno, runtime, "bin"]) {
      await Deno.mkdir(join(folder, path), { recursive: true });
    }
    if (link !== undefined) await Deno.symlink(join(folder, deno), join(folder, link));
    await Deno.writeTextFile(join(folder, runtime, "deno"), RUNTIME, { mode: 0o755 });
    const command = join(folder, program, "bin/kvdrive");
    await writeLauncher(command);
    await Deno.symlink(join("..", program, "bin/kvdrive"), join(folder, "bin/kvdrive"));
    return new Installation(folder, join(folder, program));
  }

  async run(
    words: [string, ...string[]] = [join(this.folder, "bin/kvdrive")],
    env: Record<string, string> = {},
    cwd = this.folder,
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const [program, ...args] = words;
    const PATH = Deno.env.get("PATH") ?? "";
    const options = { args, cwd, clearEnv: true, env: { PATH, ...env } };
    const { code, stdout, stderr } = await new Deno.Command(program, options).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(dirname(this.folder), { recursive: true });
  }
}

Deno.test("The launcher finds the runtime as each installer lays the packages out", async () => {
  for (const layout of Object.keys(LAYOUTS)) {
    await using installed = await Installation.make(layout);
    const { code, stdout, stderr } = await installed.run();
    assertEquals([code, stderr], [0, ""], layout);
    const options = ["run", "--quiet", ...RUNTIME_OPTIONS, "--deny-import"];
    const files = ["--config", `${installed.program}/deno.json`, `${installed.program}/main.ts`];
    const words = [...options, "--no-remote", "--cached-only", ...files];
    assertEquals(stdout.split("\n")[1], words.map((word) => `[${word}]`).join(""));
    assertEquals(stdout.split("\n")[0]?.replace(/^\d+ /, ""), `${installed.program}/bin/kvdrive`);
  }
});

Deno.test("Only a server of several processes may start the launcher, and none of them may", async () => {
  await using installed = await Installation.make();
  const command = join(installed.folder, "bin/kvdrive");
  const cases: [string[], Record<string, string>, boolean][] = [
    [["serve"], {}, false],
    [["serve", "--processes", "2"], {}, true],
    [["serve", "--processes=2"], {}, true],
    [["serve"], { KVDRIVE_PROCESSES: "2" }, true],
    [["serve", "--processes", "2"], { KVDRIVE_WORKER: "{}" }, false],
  ];
  for (const [args, env, isGranted] of cases) {
    const { stdout } = await installed.run([command, ...args], env);
    const granted = stdout.includes(`[--allow-run=${installed.program}/bin/kvdrive]`);
    assertEquals([granted, stdout.includes("allow-run")], [isGranted, isGranted], args.join(" "));
  }
});

Deno.test("The launcher works from any folder and through any call", async () => {
  await using installed = await Installation.make();
  const bin = join(installed.folder, "bin");
  const calls: [[string, ...string[]], Record<string, string>, string][] = [
    [["./kvdrive", "a b"], {}, bin],
    [["sh", "kvdrive", "a b"], {}, bin],
    [["sh", "-c", "exec kvdrive 'a b'"], { PATH: `${bin}:${Deno.env.get("PATH")}` }, "/"],
    [["../../../bin/kvdrive", "a b"], { CDPATH: "/:/tmp" }, installed.program],
  ];
  for (const [words, env, cwd] of calls) {
    const { code, stdout, stderr } = await installed.run(words, env, cwd);
    assertEquals([code, stderr], [0, ""], words.join(" "));
    assert(stdout.endsWith(`[${installed.program}/main.ts][a b]`), stdout);
  }
});

Deno.test("The runtime takes the launcher's place: its process, arguments and exit status", async () => {
  await using installed = await Installation.make();
  const command = join(installed.folder, "bin/kvdrive");
  const script = `sh -c 'echo $$; exec "$0" "" "*" "\\$HOME"' "$1"`;
  const env = { TEST_DO: "exit 7" };
  const { code, stdout } = await installed.run(["sh", "-c", script, "sh", command], env);
  const [pid, first = "", args = ""] = stdout.split("\n");
  assertEquals([code, first.split(" ")[0]], [7, pid]);
  assert(args.endsWith("[][*][$HOME]"), args);
  const killed = await installed.run([command], { TEST_DO: "kill -TERM $$" });
  assertEquals(killed.code, 128 + 15);
});

Deno.test("A runtime that is missing is reported in one sentence", async () => {
  for (const path of ["deno", "@deno"]) {
    await using installed = await Installation.make();
    await Deno.remove(join(installed.program, "node_modules", path), { recursive: true });
    const { code, stdout, stderr } = await installed.run();
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /^kvdrive: The npm package "deno" [^\n]+\n$/);
  }
});

Deno.test("The package needs the Deno that it was made with, and nothing else", () => {
  const { dependencies, version, bin } = packageJson();
  assertEquals(dependencies, { deno: Deno.version.deno });
  assertEquals([version, bin], [config.version, { kvdrive: "bin/kvdrive" }]);
});
