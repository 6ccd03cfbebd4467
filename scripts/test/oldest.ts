/**
 * Checks the types on the oldest Deno that the program is for, and lets the black-box suite drive the sources on it:
 * `deno task test:oldest [OPTIONS OF deno test]`. It needs npm.
 *
 * @module
 */

import { join } from "@std/path/join";
import { MAIN, ROOT } from "../package/parts.ts";
import { runBlackBox } from "./black_box.ts";
import { blackBoxTests } from "./runner.ts";

/** What Deno Deploy runs. */
const OLDEST = "deno@2.5.0";

/** Tests that this version cannot pass, and why. */
const LEFT_OUT = new Map([
  ["tests/store/backup_slow_test.ts", "a backup needs a function of SQLite that it has not"],
  ["tests/store/backup_damage_slow_test.ts", "the same"],
  ["tests/store/backup_certificates_test.ts", "the same"],
  ["tests/store/destructive_commands_test.ts", "the same"],
  ["tests/store/restore_slow_test.ts", "the same"],
  [
    "tests/store/scrub_slow_test.ts",
    "changes entries with the newer Deno, whose form of values it cannot read",
  ],
  ["tests/store/verify_test.ts", "the same"],
  ["tests/store/verify_slow_test.ts", "the same"],
  ["tests/docs_slow_test.ts", "its commands make a backup"],
]);

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const deno = await oldestDeno();
  for (const cwd of [ROOT, join(ROOT, "tests")]) {
    // The lock file has no types of Node.js, which newer ones have inside.
    const check = new Deno.Command(deno, { args: ["check", "--quiet", "--no-lock", "."], cwd });
    const { code } = await check.spawn().status;
    if (code !== 0) return code;
  }
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-oldest-" });
  try {
    const program = join(folder, "kvdrive");
    const text = `#!/bin/sh\nexec '${deno}' run -A '${join(ROOT, MAIN)}' "$@"\n`;
    await Deno.writeTextFile(program, text, { mode: 0o755 });
    const files = (await blackBoxTests()).filter((file) => !LEFT_OUT.has(file));
    return await runBlackBox({ program, env: { KVDRIVE_TEST_OLDEST: "1" }, files, args });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Where npm has put it. */
async function oldestDeno(): Promise<string> {
  const args = ["-y", OLDEST, "eval", "console.log(Deno.execPath())"];
  const command = new Deno.Command("npx", { args, stdin: "null", stderr: "inherit" });
  const { success, stdout } = await command.output();
  if (!success) throw new Error(`npm has no ${OLDEST}`);
  return new TextDecoder().decode(stdout).trim();
}
