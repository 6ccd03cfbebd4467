/**
 * Starts the server with a newly bundled dashboard: `deno task dev`, which runs this again when a source file changes.
 *
 * @module
 */

import { runCommand } from "../../src/cli/main.ts";
import { BUNDLE, bundleDashboard } from "./bundle.ts";

if (import.meta.main) {
  await bundleDashboard(BUNDLE);
  Deno.exitCode = await runCommand(["serve", ...Deno.args], Deno.env.toObject());
}
