/**
 * The command line of kvdrive, and its start on Deno Deploy.
 *
 * @module
 */
import { runCommand } from "./src/cli/main.ts";

if (import.meta.main) Deno.exit(await runCommand(Deno.args, Deno.env.toObject()));
