/**
 * Runs the tests of https against Pebble, the test server of Let's Encrypt: `deno task test:acme`. Takes the programs of
 * the PATH, else builds them with Go from their public source.
 *
 * @module
 */
import { print } from "../package/command_line.ts";
import { runTests, testFiles } from "./runner.ts";

/** The version that is built. */
const VERSION = "v2.10.1";
const MODULE = "github.com/letsencrypt/pebble/v2/cmd";

/** The authority, and the name server that leads it to this machine. */
const PROGRAMS = ["pebble", "pebble-challtestsrv"];

if (import.meta.main) Deno.exit(await main());

async function main(): Promise<number> {
  if (await Promise.all(PROGRAMS.map(isInPath)).then((found) => found.every(Boolean))) {
    return await run({});
  }
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-pebble-" });
  try {
    if (!await build(folder)) return 1;
    return await run({ PATH: `${folder}:${Deno.env.get("PATH") ?? ""}` });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(env: Record<string, string>): Promise<number> {
  return await runTests({ files: await testFiles(["tests/acme"]), env });
}

async function isInPath(program: string): Promise<boolean> {
  try {
    await new Deno.Command(program, { args: ["-h"], stdout: "null", stderr: "null" }).output();
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return false;
  }
}

async function build(folder: string): Promise<boolean> {
  const packages = PROGRAMS.map((program) => `${MODULE}/${program}@${VERSION}`);
  const env = { GOBIN: folder, GOFLAGS: "-mod=mod" };
  try {
    const { success } = await new Deno.Command("go", { args: ["install", ...packages], env })
      .output();
    if (!success) print(`Pebble ${VERSION} could not be built\n`);
    return success;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    print("Needs pebble and pebble-challtestsrv in the PATH, or Go to build them\n");
    return false;
  }
}
