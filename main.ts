/**
 * The command line of kvdrive.
 *
 * @module
 */
import { runCommand } from "./src/cli/main.ts";

if (import.meta.main) Deno.exit(await runCommand(Deno.args, Deno.env.toObject()));
