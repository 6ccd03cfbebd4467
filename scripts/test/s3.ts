/**
 * Runs the tests with S3 clients: `deno task test:s3`. If the AWS CLI or boto3 is missing or too old, both are installed
 * in a temporary virtual environment. Other programs are taken from the PATH.
 *
 * @module
 */
import { print } from "../package/command_line.ts";
import { runTests, testFiles } from "./runner.ts";

/** Packages for the virtual environment. These versions send checksums by default. */
const PACKAGES = ["awscli==1.46.3", "boto3==1.44.5"];

/** Fails unless boto3 is at least 1.36, the first version that sends checksums by default. */
const NEEDED =
  "import boto3, sys; sys.exit(tuple(map(int, boto3.__version__.split('.')[:2])) < (1, 36))";

/** Test files that run at once. More would not be faster, as they upload many megabytes. */
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

/** Whether a program exists and succeeds. */
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
