/**
 * Runs the tests that are about the store on stores behind a `denokv`, which `deno task test:remote` needs:
 * in the PATH, or at the path in the variable DENOKV. Tests of the store's file are left out.
 *
 * @module
 */

import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { Denokv, DENOKV_TOKEN } from "../tests/support/store/denokv.ts";
import { blackBoxTests, runTests, testFiles } from "./test/runner.ts";

const ROOT = fromFileUrl(new URL("../", import.meta.url));

/** Black-box tests that say nothing of a shared store, and why. */
const LEFT_OUT = new Map([
  ["tests/server/dashboard_test.ts", "the page does not know where the store is"],
  ["tests/server/tls_test.ts", "nor do certificates"],
  ["tests/server/https_test.ts", "the same"],
  ["tests/server/https_slow_test.ts", "the same"],
  ["tests/server/https_docs_slow_test.ts", "the same"],
  ["tests/gate/certificates_slow_test.ts", "the same"],
  ["tests/store/backup_certificates_test.ts", "is about the store's file"],
  ["tests/gate/smuggling_test.ts", "nor does the gate's reading of HTTP"],
  ["tests/gate/limits_test.ts", "the same"],
  ["tests/server/first_start_test.ts", "is about the data folder"],
  ["tests/cli/admin_commands_test.ts", "is about the data folder"],
  ["tests/cli/terminal_commands_slow_test.ts", "is about the data folder"],
  ["tests/store/backup_slow_test.ts", "is about the store's file"],
  ["tests/store/backup_damage_slow_test.ts", "the same"],
  ["tests/store/scrub_slow_test.ts", "the same"],
  ["tests/server/private_files_test.ts", "the same"],
  ["tests/store/restore_slow_test.ts", "the same"],
  ["tests/store/changes_test.ts", "the same"],
  ["tests/store/reads_slow_test.ts", "is about the reads of that file"],
  ["tests/store/verify_test.ts", "the same"],
  ["tests/store/verify_slow_test.ts", "the same"],
  ["tests/server/health_test.ts", "holds the lock of the store's file"],
  ["tests/server/metrics_test.ts", "tells how large that file is"],
  ["tests/cli/export_import_test.ts", "works on the data folder, beside the wire"],
  ["tests/cli/export_import_slow_test.ts", "the same"],
  ["tests/cli/progress_bar_slow_test.ts", "is about the terminal"],
  ["tests/server/deploy_test.ts", "starts the program on a store of its own"],
  ["tests/gate/deploy_slow_test.ts", "the same"],
  ["tests/api/openapi_test.ts", "is about the description"],
  ["tests/api/api_coverage_test.ts", "is about the tests themselves"],
  ["tests/docs_test.ts", "is about the documentation"],
  ["tests/docs_slow_test.ts", "is about the data folder"],
]);

/** The tests of faults that a shared store has too. The others fill, break or lock the file. */
const FAULTS = ["removal", "model", "crash", "quota", "events"].map((what) =>
  `tests/faults/${what}_test.ts`
);

async function run(args: readonly string[], env: Record<string, string>): Promise<void> {
  await say(Deno.stdout, `deno test ${args.join(" ").slice(0, 150)}`);
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", "--no-prompt", "-A", ...args],
    cwd: ROOT,
    env,
  }).output().then(report);
  if (code !== 0) Deno.exit(code);
}

/** Prints the whole output of a failed run, otherwise its last lines. */
async function report(output: Deno.CommandOutput): Promise<Deno.CommandOutput> {
  const lines = new TextDecoder().decode(output.stdout).trimEnd().split("\n");
  const shown = output.success ? lines.slice(-1) : lines;
  await say(Deno.stdout, shown.join("\n"));
  if (!output.success) await say(Deno.stderr, new TextDecoder().decode(output.stderr));
  return output;
}

async function say(to: { writable: WritableStream<Uint8Array> }, text: string): Promise<void> {
  const lines = new Blob([`${text}\n`]).stream();
  await lines.pipeTo(to.writable, { preventClose: true });
}

function isThere(program: string): boolean {
  try {
    return new Deno.Command(program, { args: ["--help"] }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const program = Deno.env.get("DENOKV") || "denokv";
if (!isThere(program)) {
  await say(
    Deno.stderr,
    `There is no denokv at ${program}: get it with "cargo install denokv --locked", which needs protoc, and put it into the PATH or say DENOKV=/path/to/denokv`,
  );
  Deno.exit(1);
}
Deno.env.set("KVDRIVE_TEST_DENOKV", program);
const env = { KVDRIVE_TEST_DENOKV: program };

const folder = await Deno.makeTempDir({ prefix: "kvdrive-remote-" });
try {
  await using denokv = await Denokv.start(join(folder, "store.db"));
  const shared = { KVDRIVE_TEST_KV: denokv.url, DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN };
  await run(["--filter", "(remote)", "src/store"], shared);
} finally {
  await Deno.remove(folder, { recursive: true });
}
const tests = (await blackBoxTests()).filter((file) => !LEFT_OUT.has(file));
Deno.exit(
  await runTests({ files: tests, env }) || await runTests({ files: FAULTS, jobs: 1, env }) ||
    await runTests({ files: await testFiles(["tests/remote"]), jobs: 1, env }),
);
