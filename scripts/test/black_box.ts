import { BUNDLE, bundleDashboard } from "../dashboard/bundle.ts";
import { blackBoxTests, runTests } from "./runner.ts";

/**
 * Runs the black-box tests with an executable in place of the sources.
 *
 * @param args More options of `deno test`.
 * @param isLeftOut Whether a test file does not apply to it.
 * @returns the exit status.
 */
export async function runBlackBox(
  program: string,
  env: Record<string, string>,
  args: readonly string[],
  isLeftOut: (file: string) => boolean = () => false,
): Promise<number> {
  await bundleDashboard(BUNDLE);
  const files = (await blackBoxTests()).filter((file) => !isLeftOut(file));
  // The executable has the permissions of users, with which Deno does not write below /dev.
  const isOnDisk = true;
  return await runTests({ files, args, env: { ...env, KVDRIVE_TEST_PROGRAM: program }, isOnDisk });
}
