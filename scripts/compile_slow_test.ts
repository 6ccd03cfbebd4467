import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import config from "../deno.json" with { type: "json" };
import { dryRun } from "./compile.ts";
import { type Contents, executableName, TARGETS } from "./package/executable.ts";
import { filesBelow, findParts, isPart, ROOT } from "./package/parts.ts";
import { sha256Of } from "./package/workshop.ts";

const SCRIPT = fromFileUrl(new URL("./compile.ts", import.meta.url));
const NAME = executableName(undefined);
const PACKAGES = ".deno_compile_node_modules/localhost/";

/** The npm packages that a program imports, also through others. */
async function packagesOf(program: string): Promise<string[]> {
  const args = ["info", "--json", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  const { modules, npmPackages } = JSON.parse(new TextDecoder().decode(stdout)) as {
    modules: { npmPackage?: string }[];
    npmPackages: Record<string, { name: string; dependencies: string[] }>;
  };
  const found = new Set(modules.flatMap(({ npmPackage }) => npmPackage ?? []));
  // A set that grows is iterated to its new end.
  for (const id of found) for (const one of npmPackages[id]?.dependencies ?? []) found.add(one);
  return [...found].flatMap((id) => npmPackages[id]?.name ?? []);
}

Deno.test("A dry run tells what is inside an executable", async (t) => {
  const contents = await dryRun();
  await t.step(
    "It has the program, the dashboard and the packages it needs, and nothing else",
    () => assertInside(contents),
  );
  await t.step(
    "It has the permissions of the start task, never prompts, and has the program's version",
    () => assertPermissions(contents),
  );
});

async function assertInside({ files }: Contents): Promise<void> {
  const packages = await packagesOf("main.ts");
  const isOfPackage = (path: string) =>
    packages.some((name) => path.startsWith(`${PACKAGES}${name}/`));
  const inside = files.filter((path) => !isOfPackage(path));
  for (const name of ["preact", "axe-core", "playwright-core", "typescript"]) {
    assert(!packages.includes(name), `${name} is of the dashboard or of tests`);
  }
  const own = (await filesBelow(ROOT, "src")).filter(isPart);
  const known = new Set(["deno.json", "main.ts", ...own]);
  assertEquals(inside.filter((path) => !known.has(path)), []);
  // Types that stand in a file of their own need not be inside.
  const { included } = await findParts();
  const needed = own.filter((path) => included.some((part) => path.startsWith(part)));
  assertEquals(
    ["main.ts", "src/cli/serve/serve.ts", ...needed].filter((one) => !files.includes(one)),
    [],
  );
}

function assertPermissions({ metadata }: Contents): void {
  const granted = Object.entries(metadata.permissions).filter(([, value]) => value !== null);
  const { allow_import, ...rights } = Object.fromEntries(granted);
  // An empty list is all of a kind. Remote imports that Deno allows by default are denied.
  assert(Array.isArray(allow_import));
  const all = { allow_env: [], allow_net: [], allow_read: [], allow_sys: [], allow_write: [] };
  assertEquals(rights, { ...all, deny_import: [], prompt: false });
  assertEquals(metadata.unstable_config.features, config.unstable);
  assertEquals([metadata.app_name, metadata.app_version], ["kvdrive", config.version]);
  assertEquals([metadata.entrypoint_key, metadata.argv], ["main.ts", []]);
}

Deno.test("A compile that fails leaves the executable that was there, and nothing beside it", async () => {
  await using folder = await Folder.make();
  await Deno.writeTextFile(`${folder.path}/${NAME}`, "earlier");
  const { code, text } = await run(["--out", folder.path], { DENORT_BIN: "/missing" });
  assertEquals(code, 1, text);
  assertStringIncludes(text, `${NAME} was not made`);
  assertEquals(await Deno.readTextFile(`${folder.path}/${NAME}`), "earlier");
  assertEquals(await filesBelow(folder.path, "."), [`./${NAME}`]);
});

Deno.test("An executable replaces the one that was there, with a checksum beside it", async () => {
  await using folder = await Folder.make();
  await Deno.writeTextFile(`${folder.path}/${NAME}`, "earlier");
  // Deno itself stands for the runtime.
  const { code, text } = await run(["--out", folder.path], { DENORT_BIN: Deno.execPath() });
  assertEquals(code, 0, text);
  assertEquals(await filesBelow(folder.path, "."), [`./${NAME}`, `./${NAME}.sha256`]);
  const line = await Deno.readTextFile(`${folder.path}/${NAME}.sha256`);
  assertEquals(line, `${await sha256Of(`${folder.path}/${NAME}`)}  ${NAME}\n`);
});

Deno.test("There is an executable for each system and processor", () => {
  const names = TARGETS.map((target) => executableName(target));
  assertEquals(names, [
    "kvdrive-x86_64-unknown-linux-gnu",
    "kvdrive-aarch64-unknown-linux-gnu",
    "kvdrive-x86_64-apple-darwin",
    "kvdrive-aarch64-apple-darwin",
    "kvdrive-x86_64-pc-windows-msvc.exe",
    "kvdrive-aarch64-pc-windows-msvc.exe",
  ]);
  assertEquals(executableName(undefined, "linux"), "kvdrive");
  assertEquals(executableName(undefined, "windows"), "kvdrive.exe");
});

Deno.test("A command line that cannot be followed is refused", async () => {
  const runs = [["--target", "amiga"], ["--fast"], ["now"]].map((args) => run(args));
  for (const { code, text } of await Promise.all(runs)) {
    assertEquals(code, 2, text);
    assertStringIncludes(text, "Usage: deno task compile");
  }
});

Deno.test({
  name: "The executable starts and says what it is",
  // Its runtime is fetched from the network, once.
  ignore: !await hasRuntime(),
  async fn() {
    await using folder = await Folder.make();
    const { code, text } = await run(["--out", folder.path]);
    assertEquals(code, 0, text);
    const command = new Deno.Command(`${folder.path}/${NAME}`, { args: ["version"] });
    const { stdout } = await command.output();
    const said = new TextDecoder().decode(stdout);
    assertEquals(said, `kvdrive ${config.version} (compiled, deno ${Deno.version.deno})\n`);
  },
});

/** Whether this machine has the runtime of executables already. */
async function hasRuntime(): Promise<boolean> {
  if (Deno.env.has("DENORT_BIN")) return true;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string };
  const file = `denort-${Deno.build.target}.zip`;
  try {
    await Deno.stat(`${denoDir}/dl/release/v${Deno.version.deno}/${file}`);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function run(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", SCRIPT, ...args],
    cwd: dirname(SCRIPT),
    env,
  });
  const { code, stdout, stderr } = await command.output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

class Folder implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(): Promise<Folder> {
    return new Folder(await Deno.makeTempDir({ prefix: "kvdrive-test-" }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}
