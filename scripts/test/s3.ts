/**
 * Runs the tests with clients of S3: `deno task test:s3`. Takes the programs of the PATH; what Python can install and the
 * PATH has not goes into a virtual environment of the moment.
 *
 * @module
 */
import { print } from "../package/command_line.ts";
import { runTests, testFiles } from "./runner.ts";

/** What is installed: the first versions of these lines send checksums by themselves, as all later ones do. */
const PACKAGES = ["awscli==1.46.3", "boto3==1.44.5"];

/** What boto3 has to be at least to do so. */
const NEEDED =
  "import boto3, sys; sys.exit(tuple(map(int, boto3.__version__.split('.')[:2])) < (1, 36))";

/** Uploads of many megabytes at the same time do not get quicker with more files at once. */
const JOBS = 2;

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const files = await testFiles(args.length > 0 ? args : ["tests/s3"]);
  if (await succeeds("python3", ["-c", NEEDED]) && await succeeds("aws", ["--version"])) {
    return await runTests({ files, jobs: JOBS });
  }
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-s3-clients-" });
  try {
    if (!await install(folder)) return 1;
    const env = { PATH: `${folder}/bin:${Deno.env.get("PATH") ?? ""}` };
    return await runTests({ files, jobs: JOBS, env });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function install(folder: string): Promise<boolean> {
  const isInstalled = await succeeds("python3", ["-m", "venv", folder]) &&
    await succeeds(`${folder}/bin/pip`, ["install", "--quiet", ...PACKAGES]);
  if (!isInstalled) print(`Needs python3 with venv and pip to install ${PACKAGES.join(", ")}\n`);
  return isInstalled;
}

/** Whether a program is there and ends well. */
async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    const command = new Deno.Command(program, {
      args: [...args],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
    return (await command.output()).success;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return false;
  }
}
