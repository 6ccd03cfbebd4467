import { BUNDLE, bundleDashboard } from "../dashboard/bundle.ts";
import { blackBoxTests, runTests } from "./runner.ts";

/** How an executable is tested in place of the sources. */
export interface BlackBox {
  /** Its path. */
  program: string;
  env?: Record<string, string>;
  /** Test files, in place of all. */
  files?: readonly string[];
  /** More options of `deno test`. */
  args: readonly string[];
}

/** Runs black-box tests with an executable in place of the sources. @returns the exit status. */
export async function runBlackBox({ program, env = {}, files, args }: BlackBox): Promise<number> {
  await bundleDashboard(BUNDLE);
  return await runTests({
    files: files ?? await blackBoxTests(),
    args,
    env: { ...env, KVDRIVE_TEST_PROGRAM: program },
    // The executable has the permissions of users, with which Deno does not write below /dev.
    isOnDisk: true,
  });
}

/**
 * Tests of what packaging can break: start and end, paths, the dashboard's files, the packages of npm, worker threads,
 * processes and signals. The rules of the API are the same code in every form.
 */
export const EVERY_FORM: readonly string[] = [
  "tests/api/files/put_test.ts",
  "tests/cli/command_line_test.ts",
  "tests/cli/completions_test.ts",
  "tests/cli/put_get_test.ts",
  "tests/server/dashboard_test.ts",
  "tests/server/first_start_test.ts",
  "tests/server/https_test.ts",
  "tests/server/install_test.ts",
  "tests/server/processes_test.ts",
  "tests/server/s3_requests_test.ts",
  "tests/server/shutdown_test.ts",
  "tests/store/backup_certificates_test.ts",
];

/**
 * Tests of the packed file: besides, the parts of the program with the permissions of users, which the sources do not have
 * in tests, pseudo-terminals and closed outputs.
 */
export const PACKED_FILE: readonly string[] = [
  ...EVERY_FORM,
  "tests/api/files/archive_test.ts",
  "tests/api/openapi_test.ts",
  "tests/api/sharing/open_links_test.ts",
  "tests/api/uploads/uploads_test.ts",
  "tests/cli/closed_output_slow_test.ts",
  "tests/cli/completions_slow_test.ts",
  "tests/cli/export_links_test.ts",
  "tests/cli/login_terminal_slow_test.ts",
  "tests/cli/terminal_commands_slow_test.ts",
  "tests/gate/forwarding_test.ts",
  "tests/gate/sign_in_test.ts",
  "tests/gate/streams_test.ts",
  "tests/server/health_test.ts",
  "tests/server/log_test.ts",
  "tests/server/metrics_test.ts",
  "tests/server/private_files_test.ts",
  "tests/server/processes_slow_test.ts",
  "tests/server/s3_listener_test.ts",
  "tests/server/s3_secret_test.ts",
  "tests/server/settings_slow_test.ts",
  "tests/server/shutdown_slow_test.ts",
  "tests/server/tls_test.ts",
  "tests/server/welcome_slow_test.ts",
  "tests/store/backup_slow_test.ts",
  "tests/store/restore_slow_test.ts",
];

/** Options of a task: `--all` runs every test, the others are those of `deno test`. */
export function parseAll(args: readonly string[]): { isAll: boolean; args: string[] } {
  return { isAll: args.includes("--all"), args: args.filter((arg) => arg !== "--all") };
}
